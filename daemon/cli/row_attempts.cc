#include "cli/row_attempts.h"

#include <utility>

#include "config/pipeline.h"
#include "record/core/data_set.h"
#include "record/core/record_check.h"
#include "source/open/open_source.h"

namespace echoline::cli {

Result<RowAttempts> RowAttempts::open(const v1::Stream& stream, const engine::StreamCore& core) {
  ECHOLINE_ASSIGN(std::unique_ptr<source::Source> source,
                  source::open_source(config::read_step(stream)));
  return RowAttempts(core, core.data_set->reading(std::move(source)));
}

RowAttempts::RowAttempts(const engine::StreamCore& core, std::unique_ptr<source::Source> source)
    : core_(&core), source_(std::move(source)), scratch_(core.preparer->make_scratch()) {}

Result<MadeRow> RowAttempts::make(std::uint64_t record) {
  ECHOLINE_ASSIGN(const std::vector<std::byte> bytes,
                  record::read_record(core_->data_set->index(), record, *source_));
  MadeRow row;
  for (const decode::FieldType& type : core_->ring_spec.fields) {
    row.fields.emplace_back(type.shape.elements() * shm::dtype_bytes(type.dtype), '\0');
  }
  const Status status = fill(record, bytes, row.fields);
  if (!status.ok()) row = {{}, status.message()};
  return row;
}

Status RowAttempts::fill(std::uint64_t record, std::span<const std::byte> bytes,
                         std::vector<std::string>& fields) {
  const batch::Preparer& preparer = *core_->preparer;
  const augment::Chain& chain = preparer.chain();
  const UseKey key{.seed = core_->seed, .sample = record};
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

}  // namespace echoline::cli
