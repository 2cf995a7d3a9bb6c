// Where a trainer begins to read: in a pass that has its position, or in a new one.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "config/values.h"
#include "engine/stream/stream.h"

namespace echoline::engine {

// The pass of the job's other ranks: all of them have the same factors.
const Pass* Stream::pass_of_mates(const Job& job) const {
  const auto mate = std::find_if(consumers_.begin(), consumers_.end(), [&](const Consumer& other) {
    return other.job == job && !other.moving;
  });
  return mate == consumers_.end() ? nullptr : mate->pass.get();
}

// Where a trainer without a state is to begin, and the pass whose factors it is to have, if any.
Stream::Wish Stream::wish_of(const shm::AttachRequest& request, const Job& job) const {
  const Pass* like = pass_of_mates(job);
  if (request.join != shm::kJoinCurrent && request.join != shm::kJoinNextEpoch) return {{}, like};
  // All ranks of a job begin where its first one did.
  if (const auto begun = pending_ranks_.start_of(job)) return {*begun, like};
  const Pass* foremost = nullptr;
  for (const auto& pass : passes_) {
    if (!has_readers(*pass)) continue;
    if (foremost == nullptr || foremost->next_position() < pass->next_position()) {
      foremost = pass.get();
    }
  }
  if (foremost == nullptr) return {{}, like};
  if (like == nullptr) like = foremost;
  const plan::Position latest = foremost->next_position();
  if (request.join == shm::kJoinNextEpoch) return {{latest.epoch + 1, 0}, like};
  // Its batches start at multiples of its own batch size, the last one may be short.
  const std::uint64_t row = (latest.row + job.batch_size - 1) / job.batch_size * job.batch_size;
  return row < like->factors().rows(latest.epoch) ? Wish{{latest.epoch, row}, like}
                                                  : Wish{{latest.epoch + 1, 0}, like};
}

Result<Start> Stream::start_of(const shm::AttachRequest& request, const Job& job) const {
  Start start{{}, FactorHistory(*core_->plan), false};
  plan::Position position{request.epoch, request.row};
  if (request.join == shm::kJoinPosition) {
    ECHOLINE_ASSIGN(start.factors, factors_of(request, *core_));
    // Mates that came with this state may have had changes since.
    const Pass* mates = pass_of_mates(job);
    if (mates != nullptr && mates->follows(position, start.factors)) {
      start.factors = mates->factors();
    }
  } else {
    const Wish wish = wish_of(request, job);
    position = wish.position;
    start.any_factors = wish.like == nullptr;
    if (wish.like != nullptr) {
      start.factors = wish.like->factors();
    } else if (factor_.factor != core_->plan->spec().factor) {
      start.factors.append(position.epoch, {0, factor_.factor}, {});
    }
    if (!start.factors.knows(position.epoch)) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("job {} began in epoch {}, and how the echo factor changed before "
                                "its present epochs is not kept: this rank would get other "
                                "batches than the others had; start it from a state of theirs",
                                job.name, position.epoch));
    }
  }
  ECHOLINE_ASSIGN(start.position, settle_position(position, start.factors, *core_));
  return start;
}

// Its batches are not the stream's own, for another size or, up to its first epoch's end, for where
// it began.
bool Stream::reads_off_grid(const Consumer& consumer) const {
  const std::uint32_t batch_rows = core_->ring_spec.batch_rows;
  return consumer.job.batch_size != batch_rows || consumer.start.row % batch_rows != 0;
}

// Under `drop` a pass leaves out what does not fill a batch of the stream's, unless others reach
// into it.
bool Stream::needs_tails(const Consumer& consumer) const {
  return core_->ring_spec.last_batch == shm::kLastDrop && reads_off_grid(consumer);
}

Result<std::shared_ptr<Pass>> Stream::start_pass(Pass::Options options) {
  const std::uint64_t needed_bytes =
      ring::ring_bytes(core_->ring_spec) + core_->read_ahead.most_bytes + core_->window_floor_bytes;
  const std::string what =
      fmt::format("a pass of stream '{}' (ring {}, read-ahead {}, echo window {})", core_->name,
                  config::format_bytes(ring::ring_bytes(core_->ring_spec)),
                  config::format_bytes(core_->read_ahead.most_bytes),
                  config::format_bytes(core_->window_floor_bytes));
  std::vector<MemoryBudget::Reservation> reservations;
  ECHOLINE_ASSIGN(auto needed, budget_.reserve(needed_bytes, what));
  reservations.push_back(std::move(needed));
  // Where not all fits, room stays for a second pass: a resumed job must not be refused for a wish.
  reservations.push_back(budget_.reserve_up_to(core_->window_wish_bytes, needed_bytes));
  options.window_bytes_max = reservations.back().bytes();
  if (options.window_bytes_max < core_->window_wish_bytes) {
    log_info({"engine", core_->name},
             "{} of {} fit for decoded samples; the others are kept encoded and "
             "decoded again for each use",
             config::format_bytes(options.window_bytes_max),
             config::format_bytes(core_->window_wish_bytes));
  }
  return Pass::start(core_, std::move(options), std::move(reservations));
}

// `parted`: also in passes that others were parted from.
Result<std::optional<Stream::Place>> Stream::join_any(const Start& start, const Consumer& consumer,
                                                      bool parted) {
  for (const auto& pass : passes_) {
    if (pass->stopping()) continue;
    if (pass->parted() && !parted && !is_reading(*pass, consumer.job)) continue;
    if (!start.any_factors && !pass->follows(start.position, start.factors)) continue;
    ECHOLINE_ASSIGN(const std::optional<ring::Ring::Reader> reader,
                    pass->join(start.position, needs_tails(consumer), lanes_of(consumer)));
    if (reader.has_value()) return std::optional(Place{pass, *reader});
  }
  return std::optional<Place>();
}

Result<Stream::Place> Stream::find_place(const Start& start, const Consumer& consumer) {
  ECHOLINE_ASSIGN(std::optional<Place> place, join_any(start, consumer, /*parted=*/false));
  if (place.has_value()) return *place;
  retire_passes(/*parted_only=*/false);
  auto pass = start_pass(
      {.start = start.position, .factors = start.factors, .tails = needs_tails(consumer)});
  if (!pass.ok()) {
    // Beside a slow job is better than nowhere.
    ECHOLINE_ASSIGN(place, join_any(start, consumer, /*parted=*/true));
    if (!place.has_value()) return pass.status();
    return *place;
  }
  passes_.push_back(pass.value());
  ECHOLINE_ASSIGN(const ring::Ring::Reader reader,
                  pass.value()->ring().add_reader(0, start.position));
  return Place{std::move(pass).value(), reader};
}

void Stream::retire_passes(bool parted_only) {
  std::erase_if(passes_, [&](const std::shared_ptr<Pass>& pass) {
    if ((parted_only && !pass->parted()) || has_readers(*pass) || pending_ranks_.awaits(*pass))
      return false;
    pass->stop(shm::kWriterEnded);
    pass->give_back_memory();
    pending_ranks_.forget(*pass);
    slow_jobs_.forget(pass.get());
    return true;
  });
}

}  // namespace echoline::engine
