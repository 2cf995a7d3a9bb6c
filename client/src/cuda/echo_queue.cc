#include "cuda/echo_queue.h"

#include <utility>

namespace echoline::client::cuda {

void EchoQueue::add(DeviceSlot& slot, State after, bool last) {
  Epoch& epoch = epochs_.back();
  Entry& entry = epoch.batches[epoch.count];  // first, as it may find no memory
  // The position behind this batch is the one before the next batch.
  entry = {&slot, std::exchange(next_position_, std::move(after))};
  ++epoch.count;
  if (last) end_last_epoch();
}

void EchoQueue::end_epoch(State after) {
  next_position_ = std::move(after);
  // If add() ended the epoch with its last batch, the new one has none yet.
  if (epochs_.back().count > 0) end_last_epoch();
}

void EchoQueue::end_last_epoch() {
  Epoch& over = epochs_.back();
  epochs_.emplace_back();  // a deque moves no elements
  // Last: after std::bad_alloc the epoch has not ended.
  over.ended = true;
}

EchoQueue::Next EchoQueue::peek() {
  for (Epoch& epoch = epochs_.front();; ++epoch.step) {
    // An epoch that has ended has at least one batch.
    if (epoch.ended && epoch.step > echo_.last_step(epoch.count - 1)) return {.kind = Kind::kEnd};
    const DeviceEcho::BatchUse given = echo_.at(epoch.step);
    // The step is before the epoch's first batch.
    if (given.batch < 0) continue;
    const auto number = static_cast<std::uint64_t>(given.batch);
    if (number < epoch.count) {
      return {Kind::kBatch, epoch.batches.at(number).slot, given.use,
              given.use + 1 == echo_.factor(),
              epoch.ended && epoch.step == echo_.last_step(epoch.count - 1)};
    }
    // Not copied yet. If the epoch has ended, there is no such batch: the step is left out.
    if (!epoch.ended) return {};
  }
}

void EchoQueue::take(const Next& next) {
  Epoch& epoch = epochs_.front();
  if (next.kind == Kind::kEnd) {
    epochs_.pop_front();
  } else if (next.kind == Kind::kBatch) {
    // peek() has moved `step` to this use.
    if (next.last_use) epoch.batches.erase(static_cast<std::uint64_t>(echo_.at(epoch.step).batch));
    ++epoch.step;
    epoch.begun = true;
  }
}

std::vector<DeviceSlot*> EchoQueue::drop_epoch(State position) {
  std::vector<DeviceSlot*> dropped;
  for (const auto& [number, entry] : epochs_.front().batches) dropped.push_back(entry.slot);
  // The copies continue in a new epoch, at `position`.
  if (!copies_are_ahead()) {
    epochs_.emplace_back();
    next_position_ = std::move(position);
  }
  epochs_.pop_front();
  return dropped;
}

EchoQueue::ResumePoint EchoQueue::resume_point() const {
  const Epoch& epoch = epochs_.front();
  const std::uint64_t oldest = echo_.oldest_needed(epoch.step);
  // All uses were given, but the trainer did not take the end yet: the next use is in the epoch
  // after this one.
  if (epoch.ended && oldest >= epoch.count) {
    const Epoch& next = epochs_[1];
    return {next.batches.empty() ? next_position_ : next.batches.begin()->second.before, 0};
  }
  const auto found = epoch.batches.find(oldest);
  // A batch that is not copied yet begins where the copies are now. Steps are then counted from it.
  return {found != epoch.batches.end() ? found->second.before : next_position_,
          epoch.step - oldest * echo_.factor()};
}

}  // namespace echoline::client::cuda
