#include "cuda/echo_queue.h"

#include <utility>

namespace echoline::client::cuda {

void EchoQueue::add(Slot& slot, State after, bool last) {
  Round& round = rounds_.back();
  round.batches.emplace(round.count, Kept{&slot, std::exchange(frontier_, std::move(after))});
  ++round.count;  // once it is there: memory may be short
  if (last) end_round();
}

void EchoQueue::end_epoch(State after) {
  frontier_ = std::move(after);
  // The last batch may have said so.
  if (rounds_.back().count > 0) end_round();
}

void EchoQueue::end_round() {
  Round& over = rounds_.back();
  rounds_.emplace_back();
  over.ended = true;
}

EchoQueue::Next EchoQueue::peek() {
  for (Round& round = rounds_.front();; ++round.step) {
    if (round.ended && round.step > echo_.last_step(round.count - 1)) return {.what = What::kEnd};
    const DeviceEcho::Place place = echo_.at(round.step);
    if (place.batch < 0) continue;
    const auto number = static_cast<std::uint64_t>(place.batch);
    if (number < round.count) {
      return {What::kBatch, round.batches.at(number).slot, place.use,
              place.use + 1 == echo_.factor(),
              round.ended && round.step == echo_.last_step(round.count - 1)};
    }
    if (!round.ended) return {};
  }
}

void EchoQueue::take(const Next& next) {
  Round& round = rounds_.front();
  if (next.what == What::kEnd) {
    rounds_.pop_front();
  } else if (next.what == What::kBatch) {
    if (next.last_use) round.batches.erase(static_cast<std::uint64_t>(echo_.at(round.step).batch));
    ++round.step;
    round.begun = true;
  }
}

std::vector<Slot*> EchoQueue::drop_round(State position) {
  std::vector<Slot*> dropped;
  for (const auto& [number, kept] : rounds_.front().batches) dropped.push_back(kept.slot);
  if (!copies_are_ahead()) {
    rounds_.emplace_back();
    frontier_ = std::move(position);
  }
  rounds_.pop_front();
  return dropped;
}

EchoQueue::Place EchoQueue::place() const {
  const Round& round = rounds_.front();
  const std::uint64_t oldest = echo_.oldest(round.step);
  if (round.ended && oldest >= round.count) {
    const Round& next = rounds_[1];
    return {next.batches.empty() ? frontier_ : next.batches.begin()->second.before, 0};
  }
  const auto kept = round.batches.find(oldest);
  return {kept != round.batches.end() ? kept->second.before : frontier_,
          round.step - oldest * echo_.factor()};
}

}  // namespace echoline::client::cuda
