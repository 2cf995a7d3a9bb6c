// How a reader comes to its position: by attaching, by a daemon that came back, by skipping.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "reader.h"

namespace echoline::client {
namespace {

// Most descriptors that a run of `rows` can touch, if runs start at `start` plus multiples of
// `unit`.
std::uint64_t descriptors_spanned(std::uint64_t rows, std::uint64_t unit, std::uint64_t start,
                                  std::uint64_t stride) {
  const std::uint64_t grid = std::gcd(unit, stride);
  const std::uint64_t offset_max = stride - grid + start % grid;
  return (offset_max + rows - 1) / stride + 1;
}

// Descriptors from a rank's part of an epoch's last batch to its part of the next epoch's first:
// between them stand the rows that `drop` leaves over, and a short descriptor ends the epoch. The
// batches of the epoch, of `epoch_rows`, start at `start`.
std::uint64_t descriptors_across_border(const Cut& cut, std::uint64_t start,
                                        std::uint64_t epoch_rows, std::uint64_t next_rows,
                                        std::uint64_t stride) {
  const std::uint64_t steps = steps_between(cut, start, epoch_rows);
  if (steps == 0) return 0;
  const std::uint64_t last = start + (steps - 1) * cut.batch_size;
  const Slice before = slice_of(cut, std::min(cut.batch_size, epoch_rows - last));
  const Slice after = slice_of(cut, std::min(cut.batch_size, next_rows));
  const std::uint64_t epoch_descriptors = (epoch_rows + stride - 1) / stride;
  return epoch_descriptors - (last + before.first_row()) / stride +
         (after.last_row() - 1) / stride + 1;
}

}  // namespace

// Descriptors that must live at once.
std::uint64_t Reader::span() const {
  const std::uint64_t stride = header().batch_rows;
  const std::uint64_t rows = cut_.batch_size / cut_.world_size;
  if (!overlap_) return descriptors_spanned(rows, rows, position_.row, stride);
  const std::uint64_t within =
      descriptors_spanned(rows + cut_.batch_size, rows, position_.row, stride);
  const bool on_own_grid = cut_.batch_size == stride && position_.row % stride == 0;
  if (on_own_grid || has(shm::kRingVariable)) return within;
  const auto across = [&](std::uint32_t epoch, std::uint64_t start) {
    return descriptors_across_border(cut_, start, changes_.rows(epoch), changes_.rows(epoch + 1),
                                     stride);
  };
  std::uint64_t most = std::max(within, across(position_.epoch, position_.row));
  for (const std::uint32_t epoch : changes_.border_epochs(position_.epoch + 1)) {
    most = std::max(most, across(epoch, 0));
  }
  return most;
}

Error Reader::check_fit() const {
  const shm::RingHeader& h = header();
  if (cut_.batch_size == 0 || cut_.batch_size % cut_.world_size != 0) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "the batch of " + std::to_string(cut_.batch_size) +
                " rows (of all ranks together) is not divisible by world_size " +
                std::to_string(cut_.world_size)};
  }
  if (has(shm::kRingBatchEcho) && cut_.batch_size != h.batch_rows) {
    return {ECHOLINE_INVALID_ARGUMENT, "with batch echo jobs use the stream's own batch size, " +
                                           std::to_string(h.batch_rows)};
  }
  const std::uint64_t rows = cut_.batch_size / cut_.world_size;
  std::uint64_t arena_rows = attachment_->ring().sample_id_field().arena_rows;
  for (const Field& field : attachment_->ring().fields()) {
    if (!field.ragged) arena_rows = std::min(arena_rows, field.arena_rows);
  }
  const std::uint64_t spanned = span();
  if (spanned > h.descriptors_live || rows > arena_rows) {
    return {ECHOLINE_RESOURCE_EXHAUSTED,
            std::string(overlap_ ? "a batch and the one before it" : "a batch") + ", " +
                std::to_string(rows) + " rows a rank, need " + std::to_string(spanned) +
                " slots of the stream at once, it has " + std::to_string(h.descriptors_live) +
                "; raise publish.slots or take a smaller batch_size"};
  }
  const std::uint64_t epoch_rows = changes_.rows(position_.epoch + 1);
  if (!has(shm::kRingVariable) && steps_between(cut_, 0, epoch_rows) == 0) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "a batch of " + std::to_string(cut_.batch_size) + " rows is more than an epoch's " +
                std::to_string(epoch_rows) + ", and last: drop leaves nothing of it"};
  }
  return {};
}

Error Reader::adopt(std::shared_ptr<Attachment> attachment) {
  attachment_ = std::move(attachment);
  const shm::AttachReply& reply = attachment_->reply();
  front_ = reply.first_sequence;
  published_ = 0;
  end_.reset();
  position_ = {reply.epoch, reply.row};
  if (reply.change_count > 0 && attachment_->ring().factor_log() == nullptr) {
    return {
        ECHOLINE_VERSION_MISMATCH,
        "the state holds changes of the echo factor, and the daemon is of a release that cannot "
        "tell of them; install one of this client library's"};
  }
  changes_.follow(attachment_->ring().factor_log(), header().factor, header().rows_per_epoch);
  if (Error e = look_at_factor(); !e.ok()) return e;
  return check_fit();
}

Error Reader::start(std::shared_ptr<Attachment> attachment, const AttachWish& wish) {
  const shm::RingHeader& h = attachment->ring().header();
  overlap_ = wish.overlap;
  cut_.rank = wish.rank;
  cut_.world_size = wish.world_size;
  cut_.batch_size =
      attachment->reply().batch_size != 0 ? attachment->reply().batch_size : h.batch_rows;
  cut_.last = static_cast<shm::LastBatchPolicy>(h.last_batch);
  if (wish.batch_size != 0 && cut_.batch_size != wish.batch_size) {
    return {ECHOLINE_INTERNAL, "the daemon granted another batch size than was asked for"};
  }
  if (wish.has_fingerprint &&
      (!std::equal(wish.fingerprint.begin(), wish.fingerprint.end(), h.fingerprint) ||
       (wish.plan_version != 0 && wish.plan_version != h.plan_version))) {
    return {ECHOLINE_FAILED_PRECONDITION,
            "the stream's data, order or values are not those expected: fingerprint or plan "
            "version differ"};
  }
  if (Error e = adopt(std::move(attachment)); !e.ok()) return e;
  // A saved row with less than a batch behind it under last: drop: go on with the next epoch.
  if (position_.row > 0 && epoch_is_over()) enter_next_epoch();
  return {};
}

Error Reader::resume(std::shared_ptr<Attachment> attachment) {
  const Position position = position_;
  if (Error e = adopt(std::move(attachment)); !e.ok()) return e;
  if (position_ == position) return {};
  return {ECHOLINE_DATA_LOSS,
          "the daemon came back, but goes on at epoch " + std::to_string(position_.epoch) +
              ", row " + std::to_string(position_.row) + " instead of epoch " +
              std::to_string(position.epoch) + ", row " + std::to_string(position.row)};
}

bool Reader::is_variable() {
  (void)changes_.update(position_.epoch);
  return has(shm::kRingVariable) || changes_.any();
}

std::vector<shm::FactorEntry> Reader::changes() {
  (void)changes_.update(position_.epoch);
  return changes_.of_state(position_);
}

std::vector<shm::FactorEntry> Reader::changes_known() {
  (void)changes_.update(position_.epoch);
  return changes_.all_from(position_.epoch);
}

std::optional<std::uint64_t> Reader::steps_per_epoch() {
  if (is_variable()) return std::nullopt;
  return steps_between(cut_, 0, header().rows_per_epoch);
}

void Reader::begin_epoch() {
  pending_end_ = false;
  if (!begun_) return;
  const Position from = position_;
  enter_next_epoch();
  jump(from);
}

// The daemon need not prepare what lies between for this trainer.
void Reader::jump(const Position& from) {
  jumped_ = true;
  attachment_->cursor().leave_out(from, position_);
}

Error Reader::skip(std::uint64_t steps) {
  const Position from = position_;
  if (Error e = look_at_factor(); !e.ok()) return e;
  if (!epoch_rows()) {
    if (steps > std::numeric_limits<std::uint64_t>::max() / 2 / cut_.batch_size) {
      return {ECHOLINE_INVALID_ARGUMENT, "that many steps can't be skipped"};
    }
    position_.row += steps * cut_.batch_size;
    jump(from);
    return {};
  }
  const std::uint64_t left = steps_between(cut_, position_.row, *epoch_rows());
  if (steps < left) {
    position_.row += steps * cut_.batch_size;
    jump(from);
    return {};
  }
  Position to{position_.epoch + 1, 0};
  std::uint64_t beyond = steps - left;
  const auto whole = [&] { return steps_between(cut_, 0, changes_.rows(to.epoch)); };
  for (; to.epoch < changes_.last_epoch() && beyond >= whole(); ++to.epoch) beyond -= whole();
  if (whole() == 0 || beyond / whole() >= std::numeric_limits<std::uint32_t>::max() - to.epoch) {
    return {ECHOLINE_INVALID_ARGUMENT, "that many steps can't be skipped"};
  }
  to.epoch += static_cast<std::uint32_t>(beyond / whole());
  to.row = beyond % whole() * cut_.batch_size;
  pending_end_ = pending_end_ || begun_;
  enter_next_epoch();
  position_ = to;
  jump(from);
  return {};
}

}  // namespace echoline::client
