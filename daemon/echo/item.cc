#include "echo/item.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/lies_in.h"

namespace echoline::echo {
namespace {

// A buffer that was reused for samples of different sizes can have more capacity than this sample
// needs. Keeping it would use memory that the account does not count. So the sample is copied, and
// the worker keeps the large buffer.
// Borrowed elements are copied, too: the record's bytes are freed.
Buffer take_exact(decode::Tensor& tensor) {
  const std::span<const std::byte> content = tensor.content();
  if (!tensor.borrowed && tensor.bytes.capacity() == content.size()) return std::move(tensor.bytes);
  Buffer exact(content.size());
  std::copy_n(content.data(), content.size(), exact.data());
  return exact;
}

// The bytes of a frame that are elements of the sample.
std::size_t borrowed_bytes(std::span<const std::byte> frame, const decode::Sample& sample) {
  std::size_t borrowed = 0;
  for (const decode::Tensor& tensor : sample.tensors) {
    if (tensor.borrowed && lies_in(*tensor.borrowed, frame)) borrowed += tensor.borrowed->size();
  }
  return borrowed;
}

}  // namespace

Item::~Item() {
  leave_ahead();
  drop_encoded();
  if (kept_bytes_ > 0) account_->release_kept(kept_bytes_);
}

void Item::count_ahead(std::uint64_t bytes, std::uint64_t now_ns) {
  const MutexLock lock(mutex);
  ahead_bytes_ = bytes;
  requested_ns_ = now_ns;
  account_->add_ahead(static_cast<std::int64_t>(bytes));
}

void Item::set_uses(std::uint32_t uses) {
  const MutexLock lock(mutex);
  uses_left = uses;
}

void Item::leave_ahead() {
  if (ahead_bytes_ > 0) account_->add_ahead(-static_cast<std::int64_t>(ahead_bytes_));
  ahead_bytes_ = 0;
}

void Item::arrive(std::shared_ptr<const Buffer> bytes, Form form) {
  std::vector<std::weak_ptr<Waiter>> waiters;
  {
    const MutexLock lock(mutex);
    encoded_ = std::move(bytes);
    form_ = form;
    has_encoded_ = true;
    const auto size = static_cast<std::int64_t>(encoded_->size());
    account_->add_encoded(size);
    // The size of a frame was an estimate until now.
    if (ahead_bytes_ > 0 && form == Form::kPrepared && size > 0) {
      account_->add_ahead(size - static_cast<std::int64_t>(ahead_bytes_));
      ahead_bytes_ = encoded_->size();
    }
    if (ahead_bytes_ > 0) account_->note_arrival(monotonic_ns() - requested_ns_);
    waiters.swap(waiters_);
  }
  for (const std::weak_ptr<Waiter>& registered : waiters) {
    if (const std::shared_ptr<Waiter> waiter = registered.lock()) waiter->item_ready();
  }
}

bool Item::wait(const std::shared_ptr<Waiter>& waiter) {
  const MutexLock lock(mutex);
  if (ready()) return false;
  waiters_.push_back(waiter);
  return true;
}

void Item::used() {
  if (--uses_left == 0) drop_encoded();
  // Last: other items may use the freed bytes of the read-ahead at once.
  leave_ahead();
}

void Item::replace_by(std::uint64_t substitute) {
  drop_encoded();
  has_sample_ = false;
  sample_ = {};
  kept_frame_.reset();
  if (kept_bytes_ > 0) account_->release_kept(std::exchange(kept_bytes_, 0));
  record = substitute;
  ++attempt;
}

bool Item::keep_sample(decode::Sample& decoded) {
  const std::size_t borrowed = is_prepared() ? borrowed_bytes(encoded_->span(), decoded) : 0;
  // A frame is kept as a whole if most of it is elements that the sample borrows.
  const bool keeps_frame = is_prepared() && 2 * borrowed >= encoded_->size();
  // Shared steps may have made other tensors, which are kept in addition to the frame.
  const std::size_t copied = decoded.bytes() - borrowed;
  if (!keep(keeps_frame ? encoded_->size() + copied : decoded.bytes())) return false;
  sample_.tensors.clear();
  for (decode::Tensor& tensor : decoded.tensors) {
    ECHOLINE_CHECK(!tensor.part);  // other uses need other parts
    decode::Tensor& kept = sample_.tensors.emplace_back();
    kept.dtype = tensor.dtype;
    kept.shape = tensor.shape;
    if (keeps_frame && tensor.borrowed && lies_in(*tensor.borrowed, encoded_->span())) {
      kept.borrowed = tensor.borrowed;
    } else {
      kept.bytes = take_exact(tensor);
    }
  }
  if (keeps_frame) kept_frame_ = encoded_;
  has_sample_ = true;
  drop_encoded();
  return true;
}

bool Item::keep_rows(std::vector<Buffer> finished, std::vector<std::uint64_t> lengths) {
  std::uint64_t bytes = 0;
  for (const Buffer& row : finished) bytes += row.size();
  if (!keep(bytes)) return false;
  rows_ = std::move(finished);
  lengths_ = std::move(lengths);
  has_rows_ = true;
  drop_encoded();
  return true;
}

bool Item::keep(std::uint64_t bytes) {
  if (!account_->try_keep(bytes)) return false;
  kept_bytes_ = bytes;
  return true;
}

Claim::~Claim() {
  {
    const MutexLock lock(item_->mutex);
    item_->is_claimed_ = false;
  }
  item_->unclaimed_.notify_all();
}

void Item::drop_encoded() {
  if (!has_encoded_) return;
  account_->add_encoded(-static_cast<std::int64_t>(encoded_->size()));
  encoded_.reset();
  has_encoded_ = false;
}

}  // namespace echoline::echo
