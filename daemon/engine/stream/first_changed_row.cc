#include "engine/stream/first_changed_row.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kRowsMax = std::uint64_t{4} << 20;
constexpr std::uint64_t kRowsAtOnce = 4096;

bool differ(const plan::RowUse& one, const plan::RowUse& other) {
  return one.record != other.record || one.use != other.use || one.valid != other.valid ||
         one.first_draw != other.first_draw;
}

// Whether all rows [row, row + count) are the same, found at the sequential rate.
bool are_same(const plan::EpochPlan& one, const plan::EpochPlan& other, std::uint64_t row,
              std::uint64_t count) {
  std::vector<plan::RowUse> of_one(count), of_other(count);
  one.read(row, of_one);
  other.read(row, of_other);
  return std::equal(of_one.begin(), of_one.end(), of_other.begin(),
                    [](const auto& a, const auto& b) { return !differ(a, b); });
}

// The first row of [row, end) that differs, else `end`.
std::uint64_t first_different_row(const plan::EpochPlan& one, const plan::EpochPlan& other,
                                  std::uint64_t row, std::uint64_t end) {
  while (row < end) {
    const std::uint64_t count = std::min(kRowsAtOnce, end - row);
    if (!are_same(one, other, row, count)) break;
    row += count;
  }
  // The blocks agreed up to here. This one differs in at least one row, found row by row.
  while (row < end && !differ(one.at(row), other.at(row))) ++row;
  return row;
}

// The same under batch echo: a trainer sees which batch is repeated, and its use.
std::uint64_t first_different_batch(const plan::EpochPlan& one, const plan::EpochPlan& other,
                                    std::uint64_t row, std::uint64_t end,
                                    std::uint64_t batch_rows) {
  for (std::uint64_t step = row / batch_rows; step * batch_rows < end; ++step) {
    if (differ(one.batch_at(step), other.batch_at(step))) return std::max(row, step * batch_rows);
  }
  return end;
}

std::optional<std::uint64_t> first_difference(const plan::EpochPlan& one,
                                              const plan::EpochPlan& other,
                                              const plan::PlanSpec& spec, std::uint64_t row) {
  const std::uint64_t common = std::min(one.rows(), other.rows());
  // Bounds the time: the search may follow a large block that has not changed.
  const std::uint64_t end = std::min(common, row + kRowsMax);
  const std::uint64_t found = spec.echo_point == plan::EchoPoint::kBatch
                                  ? first_different_batch(one, other, row, end, spec.batch_rows)
                                  : first_different_row(one, other, row, end);
  if (found < end) return found;
  // All common rows are the same: the shorter epoch's end is what differs.
  if (end == common && one.rows() != other.rows()) return std::max(row, common);
  return std::nullopt;
}

}  // namespace

plan::Position first_changed_row(const plan::Plan& plan, const FactorHistory& before,
                                 const FactorHistory& after, plan::Position from) {
  // The change begins in the epoch of `from` or in the next one (StepWalk::change_factor).
  for (std::uint32_t epoch = from.epoch; epoch <= from.epoch + 1; ++epoch) {
    const auto epoch_before = plan.epoch(epoch, before.list(epoch));
    const auto epoch_after = plan.epoch(epoch, after.list(epoch));
    const auto row = first_difference(*epoch_before, *epoch_after, plan.spec(),
                                      epoch == from.epoch ? from.row : 0);
    if (row.has_value()) return {epoch, *row};
  }
  // No difference in reach: a lower bound is still right.
  return from;
}

}  // namespace echoline::engine
