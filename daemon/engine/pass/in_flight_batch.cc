#include "engine/pass/in_flight_batch.h"

#include <utility>

#include "engine/pass/pass.h"

namespace echoline::engine {

Chunk::Chunk(std::shared_ptr<Pass> pass, std::shared_ptr<InFlightBatch> filling,
             std::uint32_t begin, std::uint32_t end)
    : pass_(std::move(pass)),
      filling_(std::move(filling)),
      next_(begin),
      begin_(begin),
      end_(end) {}

void Chunk::start() {
  // One more than the items that are missing, so that it cannot be pushed before all have been
  // looked at.
  pending_.store(1);
  filling_->chunks_fetching.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t row = begin_; row < end_; ++row) {
    pending_.fetch_add(1);
    if (!filling_->rows[row].item->wait(shared_from_this())) pending_.fetch_sub(1);
  }
  item_ready();
}

void Chunk::item_ready() {
  if (pending_.fetch_sub(1) != 1) return;
  // From here on it waits for a worker, not for bytes.
  filling_->chunks_fetching.fetch_sub(1, std::memory_order_relaxed);
  pass_->core().pool->push(shared_from_this());
}

bool Chunk::wait_for(echo::Item& item) {
  filling_->chunks_fetching.fetch_add(1, std::memory_order_relaxed);
  pending_.store(1);
  if (!item.wait(shared_from_this())) {
    pending_.store(0);
    filling_->chunks_fetching.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  // A pass that ended a moment ago has abandoned the item before this chunk was registered: the two
  // would hold each other for ever if the bytes never came.
  if (pass_->stopping()) item.abandon();
  return true;
}

void Chunk::run(std::size_t worker) {
  while (next_ < end_) {
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
