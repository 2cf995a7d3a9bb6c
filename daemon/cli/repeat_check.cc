#include "cli/repeat_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batch/preparer.h"
#include "config/pipeline.h"
#include "record/core/data_set.h"
#include "record/core/record_check.h"
#include "source/core/source.h"
#include "source/open/open_source.h"
#include "user_code/workers.h"

namespace echoline::cli {
namespace {

constexpr std::uint64_t kRepeatsMax = 8;

// The bytes of a row, or why there is none.
struct MadeRow {
  std::vector<std::string> fields;
  std::string error;
};

// Makes rows as a worker of the daemon does.
class RowAttempts {
 public:
  RowAttempts(const engine::StreamCore& core, source::Source& source)
      : core_(core), source_(source), scratch_(core.preparer->make_scratch()) {}

  Result<MadeRow> make(std::uint64_t record) {
    ECHOLINE_ASSIGN(const std::vector<std::byte> bytes,
                    record::read_record(core_.data_set->index(), record, source_));
    MadeRow row;
    for (const decode::FieldType& type : core_.ring_spec.fields) {
      row.fields.emplace_back(type.shape.elements() * shm::dtype_bytes(type.dtype), '\0');
    }
    const Status status = fill(record, bytes, row.fields);
    if (!status.ok()) row = {{}, status.message()};
    return row;
  }

 private:
  Status fill(std::uint64_t record, std::span<const std::byte> bytes,
              std::vector<std::string>& fields) {
    const batch::Preparer& preparer = *core_.preparer;
    const augment::Chain& chain = preparer.chain();
    const UseKey key{core_.seed, record, 0, 0};
    ECHOLINE_TRY(preparer.try_record(record, bytes, scratch_));
    decode::Sample* sample = &scratch_.sample;
    if (chain.has_shared()) {
      ECHOLINE_ASSIGN(sample, chain.run_shared(*sample, key, *scratch_.augment_scratch));
    }
    std::vector<std::span<std::byte>> rows;
    for (std::string& field : fields) {
      rows.push_back(std::as_writable_bytes(std::span(field.data(), field.size())));
    }
    std::vector<std::uint64_t> lengths(fields.size());
    return chain.run(*sample, key, *scratch_.augment_scratch, rows, lengths);
  }

  const engine::StreamCore& core_;
  source::Source& source_;
  batch::WorkerScratch scratch_;
};

Status different(const engine::StreamCore& core, std::uint64_t record, const std::string& what) {
  const std::vector<const user_code::Workers*> code = core.preparer->chain().user_code();
  const bool is_plugin = std::ranges::all_of(code, [](const user_code::Workers* workers) {
    return workers->function().library != nullptr;
  });
  return Status(
      Code::kFailedPrecondition,
      fmt::format("{}: it returned something else when it was called again for sample {} (key {}) "
                  "with the same arguments: {} differs; it may use only its arguments{}",
                  is_plugin ? "plugin.step" : "python.function", record,
                  core.data_set->index().key(record), what,
                  is_plugin ? " and draws from call->key"
                            : ", `rng`, and the generators of random, numpy and torch"));
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

Status check_repeatable(const v1::Stream& stream, const engine::StreamCore& core) {
  ECHOLINE_ASSIGN(std::unique_ptr<source::Source> source,
                  source::open_source(config::read_step(stream)));
  source = core.data_set->reading(std::move(source));
  RowAttempts attempts(core, *source);
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
