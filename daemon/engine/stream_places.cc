// Where a trainer begins to read: in a pass that has its position, or in a new one.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "config/values.h"
#include "engine/stream.h"

namespace echoline::engine {

plan::Position Stream::position_of(const shm::AttachRequest& request, const Job& job) const {
  if (request.join == shm::kJoinPosition) return {request.epoch, request.row};
  if (request.join != shm::kJoinCurrent && request.join != shm::kJoinNextEpoch) return {};
  // All ranks of a job begin where its first one did.
  if (const auto begun = holds_.start_of(job)) return *begun;
  plan::Position latest;
  bool running = false;
  for (const auto& pass : passes_) {
    if (!has_readers(*pass)) continue;
    latest = std::max(latest, pass->next_position());
    running = true;
  }
  if (!running) return {};
  if (request.join == shm::kJoinNextEpoch) return {latest.epoch + 1, 0};
  // Its batches start at multiples of its own batch size, the last one may be short.
  const std::uint64_t row = (latest.row + job.batch_size - 1) / job.batch_size * job.batch_size;
  return row < core_->plan->rows_per_epoch() ? plan::Position{latest.epoch, row}
                                             : plan::Position{latest.epoch + 1, 0};
}

// Under `drop` a pass leaves out what does not fill a batch of the stream's own grid, unless
// batches of another size, or off the grid, reach into it.
bool Stream::needs_tails(const Consumer& consumer) const {
  const ring::RingSpec& spec = core_->ring_spec;
  return spec.last_batch == shm::kLastDrop && spec.rows_per_epoch % spec.batch_rows != 0 &&
         (consumer.job.batch_size != spec.batch_rows || consumer.start.row % spec.batch_rows != 0);
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
    if (pass->changes_of(start.position.epoch) != start.changes) continue;
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
      {.start = start.position, .changes = start.changes, .tails = needs_tails(consumer)});
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
    if ((parted_only && !pass->parted()) || has_readers(*pass) || holds_.awaits(*pass))
      return false;
    pass->stop(shm::kWriterEnded);
    pass->give_back_memory();
    holds_.forget(*pass);
    laggards_.forget(pass.get());
    return true;
  });
}

}  // namespace echoline::engine
