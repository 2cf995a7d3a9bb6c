#include "engine/filling.h"

#include <utility>

#include "engine/pass.h"

namespace echoline::engine {

Chunk::Chunk(std::shared_ptr<Pass> pass, std::shared_ptr<Filling> filling, std::uint32_t begin,
             std::uint32_t end)
    : pass_(std::move(pass)),
      filling_(std::move(filling)),
      next_(begin),
      begin_(begin),
      end_(end) {}

void Chunk::start() {
  // One more than the items that are missing, so that it cannot be pushed before all have been
  // looked at.
  pending_.store(1);
  counted_as_fetching_ = true;
  filling_->chunks_fetching.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t row = begin_; row < end_; ++row) {
    pending_.fetch_add(1);
    if (!filling_->rows[row].item->wait(shared_from_this())) pending_.fetch_sub(1);
  }
  item_ready();
}

void Chunk::item_ready() {
  if (pending_.fetch_sub(1) == 1) pass_->core().pool->push(shared_from_this());
}

bool Chunk::wait_for(echo::Item& item) {
  counted_as_fetching_ = true;
  filling_->chunks_fetching.fetch_add(1, std::memory_order_relaxed);
  pending_.store(1);
  if (item.wait(shared_from_this())) return true;
  pending_.store(0);
  return false;
}

void Chunk::run(std::size_t worker) {
  while (next_ < end_) {
    if (std::exchange(counted_as_fetching_, false)) {
      filling_->chunks_fetching.fetch_sub(1, std::memory_order_relaxed);
    }
    switch (pass_->prepare_row(*filling_, next_, worker)) {
      case Pass::Prepared::kDone:
        ++next_;
        break;
      case Pass::Prepared::kStopped:
        return;
      case Pass::Prepared::kBytesMissing:
        if (wait_for(*filling_->rows[next_].item)) return;
        break;
    }
  }
  if (filling_->chunks_left.fetch_sub(1, std::memory_order_acq_rel) == 1) pass_->wake();
}

}  // namespace echoline::engine
