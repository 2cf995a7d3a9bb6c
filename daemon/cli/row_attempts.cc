#include "cli/row_attempts.h"

#include <span>
#include <utility>

#include "config/pipeline.h"
#include "record/core/data_set.h"
#include "record/core/record_check.h"
#include "source/open/open_source.h"

namespace echoline::cli {
namespace {

UseKey key_of(const engine::StreamCore& core, std::uint64_t record) {
  return {.seed = core.seed, .sample = record};
}

void note(MadeRow& row, const Status& status) { row.error = status.message(); }

}  // namespace

Result<RowAttempts> RowAttempts::open(const v1::Stream& stream, const engine::StreamCore& core) {
  std::vector<std::unique_ptr<source::Source>> sources;
  for (const v1::Read* read : config::reads_of(stream)) {
    ECHOLINE_ASSIGN(std::unique_ptr<source::Source> source, source::open_source(*read));
    sources.push_back(core.data_set->reading_part(std::move(source), sources.size()));
  }
  return RowAttempts(core, std::move(sources));
}

RowAttempts::RowAttempts(const engine::StreamCore& core,
                         std::vector<std::unique_ptr<source::Source>> sources)
    : core_(&core), sources_(std::move(sources)) {}

Result<std::vector<MadeRow>> RowAttempts::make(std::uint64_t begin, std::size_t count) {
  while (scratches_.size() < count) scratches_.push_back(core_->preparer->make_scratch());
  std::vector<MadeRow> rows(count);
  std::vector<std::vector<std::byte>> bytes;  // samples may refer to them
  for (std::size_t i = 0; i < count; ++i) {
    source::Source& source = *sources_[core_->data_set->part_of(begin + i)];
    ECHOLINE_ASSIGN(std::vector<std::byte> record,
                    record::read_record(core_->data_set->index(), begin + i, source));
    bytes.push_back(std::move(record));
    scratches_[i].augment_scratch->stages_done = 0;
    note(rows[i], core_->preparer->try_record(begin + i, bytes[i], scratches_[i]));
  }
  if (count > 1) run_together(begin, rows);
  for (std::size_t i = 0; i < count; ++i) {
    if (rows[i].error.empty()) note(rows[i], finish(begin + i, scratches_[i], rows[i].fields));
  }
  return rows;
}

void RowAttempts::run_together(std::uint64_t begin, std::vector<MadeRow>& rows) {
  std::vector<augment::RowTogether> together;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    augment::Scratch* const scratch = scratches_[i].augment_scratch.get();
    together.push_back(
        {&scratches_[i].sample, key_of(*core_, begin + i), scratch, rows[i].error.empty()});
  }
  core_->preparer->chain().run_together(together, false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].error.empty() && !together[i].is_good) rows[i].error = "no result in a chunk";
  }
}

Status RowAttempts::finish(std::uint64_t record, batch::WorkerScratch& scratch,
                           std::vector<std::string>& fields) {
  const augment::Chain& chain = core_->preparer->chain();
  const UseKey key = key_of(*core_, record);
  decode::Sample* sample = &scratch.sample;
  if (chain.has_shared()) {
    ECHOLINE_ASSIGN(sample, chain.run_shared(*sample, key, *scratch.augment_scratch));
  }
  for (const decode::FieldType& type : core_->ring_spec.fields) {
    fields.emplace_back(type.shape.elements() * shm::dtype_bytes(type.dtype), '\0');
  }
  // When all exist: a short text moves with its string.
  std::vector<std::span<std::byte>> rows;
  for (std::string& field : fields) {
    rows.push_back(std::as_writable_bytes(std::span(field.data(), field.size())));
  }
  std::vector<std::uint64_t> lengths(fields.size());
  return chain.run(*sample, key, *scratch.augment_scratch, rows, lengths);
}

}  // namespace echoline::cli
