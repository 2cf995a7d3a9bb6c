#include "cli/bad_record_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "augment/hang_watch.h"
#include "record/core/data_set.h"

namespace echoline::cli {

void TriedRecords::note(std::uint64_t record, const std::string& error,
                        const engine::StreamCore& core) {
  if (!tried.insert(record).second || error.empty() || bad++ > 0) return;
  const std::string key = core.data_set->index().key(record);
  first_error = fmt::format("sample {} (key {}): {}", record, key, error);
}

std::string TriedRecords::short_text() const {
  if (!is_short) return "";
  return "; no more were tried, because user code exceeded its `timeout` for two";
}

Result<TriedRecords> try_records(const engine::StreamCore& core, RowAttempts& attempts) {
  constexpr std::uint64_t kRecordsMax = 16;
  const std::uint64_t count = core.plan->record_count();
  TriedRecords records;
  const std::uint64_t tries = std::min(count, kRecordsMax);
  const augment::HangWatch watch(core.preparer->chain());
  for (std::uint64_t i = 0; i < tries && !watch.hangs(); ++i) {
    const std::uint64_t place = core.data_set->random_access() ? i * count / tries : i;
    // An order of the user can leave records out.
    const std::uint64_t record = core.plan->record_at(0, place);
    ECHOLINE_ASSIGN(const std::vector<MadeRow> rows, attempts.make(record));
    records.note(record, rows.front().error, core);
  }
  records.is_short = watch.hangs();
  return records;
}

Status check_bad(const TriedRecords& records, const engine::StreamCore& core) {
  const std::uint64_t most = core.bad_records->most();
  if (records.bad <= most) return {};
  return Status(
      Code::kDataLoss,
      fmt::format("{} of {} records that were tried are bad, and bad_records.limit allows "
                  "{} in an epoch; the first one: {}{}",
                  records.bad, records.tried.size(), most, records.first_error,
                  records.short_text()));
}

}  // namespace echoline::cli
