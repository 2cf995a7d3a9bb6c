#include "engine/stream/pass_builder.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/log.h"
#include "config/values.h"

namespace echoline::engine {

using config::format_bytes;

namespace {

// Each row of a ragged field has room for its maximum, which is easily set too high: names the
// field that takes half of the ring or more.
std::string largest_ragged(const ring::RingSpec& spec, std::uint64_t ring_bytes) {
  const std::uint64_t rows = std::uint64_t{spec.slot_count} * spec.batch_rows;
  for (const decode::FieldType& field : spec.fields) {
    // `elements` is the capacity of a row, for ragged fields, too.
    const std::uint64_t row_bytes = field.shape.elements() * shm::dtype_bytes(field.dtype);
    if (!field.ragged || rows * row_bytes < ring_bytes / 2) continue;
    const bool bytes = field.inner_bytes() == 1;
    if (field.rate != 0) {
      return fmt::format(", of which {} for rows of '{}': lower its max_seconds ({:g})",
                         format_bytes(rows * row_bytes), field.name,
                         static_cast<double>(field.shape.sizes[0]) / field.rate);
    }
    return fmt::format(", of which {} for rows of '{}': lower its {} ({})",
                       format_bytes(rows * row_bytes), field.name,
                       bytes ? "max_bytes" : "largest number of elements",
                       bytes ? format_bytes(row_bytes) : fmt::to_string(field.shape.sizes[0]));
  }
  return "";
}

}  // namespace

BuiltPass::~BuiltPass() {
  // Never with the registry's lock: stopping a pass takes time.
  if (pass_ != nullptr) retire_pass(*pass_);
}

Result<BuiltPass> build_pass(std::shared_ptr<StreamCore> core, MemoryBudget& budget,
                             Pass::Options options) {
  const std::uint64_t ring_bytes = ring::ring_bytes(core->ring_spec);
  // Without these a pass cannot work. Decoded samples are a wish, and reserved separately.
  const std::uint64_t needed_bytes =
      ring_bytes + core->read_ahead.most_bytes + core->window_floor_bytes;
  const std::string what = fmt::format(
      "a pass of stream '{}' (ring {}{}, read-ahead {}, echo window {})", core->name,
      format_bytes(ring_bytes), largest_ragged(core->ring_spec, ring_bytes),
      format_bytes(core->read_ahead.most_bytes), format_bytes(core->window_floor_bytes));
  std::vector<MemoryBudget::Reservation> reservations;
  // May reclaim idle passes of other streams, and so take the registry's lock.
  ECHOLINE_ASSIGN(auto needed, budget.reserve(needed_bytes, what));
  reservations.push_back(std::move(needed));
  // Decoded samples get what is left, but room stays for a second pass: a job that resumes at
  // another position must not be refused because this pass keeps more than it needs.
  reservations.push_back(budget.reserve_up_to(core->window_wish_bytes, needed_bytes));
  options.window_bytes_max = reservations.back().bytes();
  if (options.window_bytes_max < core->window_wish_bytes) {
    log_info({"engine", core->name},
             "{} of {} fit for decoded samples; the others are kept encoded and "
             "decoded again for each use",
             format_bytes(options.window_bytes_max), format_bytes(core->window_wish_bytes));
  }
  // From here on its thread runs, and fills slots although no trainer reads.
  ECHOLINE_ASSIGN(auto pass,
                  Pass::start(std::move(core), std::move(options), std::move(reservations)));
  return BuiltPass(std::move(pass));
}

void retire_pass(Pass& pass) {
  pass.stop(shm::kWriterEnded);
  // Queued tasks may still hold its batches; they do nothing any more.
  pass.give_back_memory();
}

}  // namespace echoline::engine
