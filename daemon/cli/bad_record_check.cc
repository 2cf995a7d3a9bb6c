#include "cli/bad_record_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "record/core/data_set.h"

namespace echoline::cli {

Result<TriedRecords> try_records(const engine::StreamCore& core, RowAttempts& attempts) {
  constexpr std::uint64_t kRecordsMax = 16;
  const record::Index& index = core.data_set->index();
  const std::uint64_t count = core.plan->record_count();
  TriedRecords records;
  records.tried = std::min(count, kRecordsMax);
  for (std::uint64_t i = 0; i < records.tried; ++i) {
    const std::uint64_t place = core.data_set->random_access() ? i * count / records.tried : i;
    // An order of the user can leave records out.
    const std::uint64_t record = core.plan->record_at(0, place);
    ECHOLINE_ASSIGN(const std::vector<MadeRow> rows, attempts.make(record));
    const std::string& error = rows.front().error;
    if (error.empty() || records.bad++ > 0) continue;
    records.first_error = fmt::format("sample {} (key {}): {}", record, index.key(record), error);
  }
  return records;
}

Status check_bad(const TriedRecords& records, const engine::StreamCore& core) {
  const std::uint64_t most = core.bad_records->most();
  if (records.bad <= most) return {};
  return Status(
      Code::kDataLoss,
      fmt::format("{} of {} records that were tried are bad, and bad_records.limit allows "
                  "{} in an epoch; the first one: {}",
                  records.bad, records.tried, most, records.first_error));
}

}  // namespace echoline::cli
