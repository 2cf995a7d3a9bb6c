#include "cli/repeat_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/row_attempts.h"
#include "record/core/data_set.h"

namespace echoline::cli {
namespace {

constexpr std::uint64_t kRepeatsMax = 8;

Status different(const engine::StreamCore& core, std::uint64_t record, const std::string& what) {
  return Status(
      Code::kFailedPrecondition,
      fmt::format("python.function: it returned something else when it was called again for sample "
                  "{} (key {}) with the same arguments: {} differs; it may use only its arguments, "
                  "`rng`, and the generators of random, numpy and torch",
                  record, core.data_set->index().key(record), what));
}

Status compare(const engine::StreamCore& core, std::uint64_t record, const MadeRow& first,
               const MadeRow& second) {
  if (first.error != second.error) return different(core, record, "the error");
  for (std::size_t i = 0; i < std::min(first.fields.size(), second.fields.size()); ++i) {
    if (first.fields[i] != second.fields[i])
      return different(core, record, "field " + core.ring_spec.fields[i].name);
  }
  return {};
}

}  // namespace

Status check_repeatable(const engine::StreamCore& core, RowAttempts& attempts) {
  const std::uint64_t count = std::min(core.data_set->index().record_count(), kRepeatsMax);
  std::vector<MadeRow> rows;
  for (std::uint64_t record = 0; record < count; ++record) {
    ECHOLINE_ASSIGN(MadeRow row, attempts.make(record));
    rows.push_back(std::move(row));
  }
  // Backwards: a function that counts its calls gives other results.
  for (std::uint64_t record = count; record-- > 0;) {
    ECHOLINE_ASSIGN(const MadeRow again, attempts.make(record));
    ECHOLINE_TRY(compare(core, record, rows[record], again));
  }
  return {};
}

}  // namespace echoline::cli
