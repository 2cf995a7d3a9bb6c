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
constexpr std::size_t kOtherChunk = 3;

// The bytes of a row, or why there is none.
struct MadeRow {
  std::vector<std::string> fields;
  std::string error;
};

// Makes rows as a worker of the daemon does.
class RowAttempts {
 public:
  RowAttempts(const engine::StreamCore& core, source::Source& source)
      : core_(core), source_(source) {}

  // Of record `begin` and those after it. One by one, or together, where all begin before one of
  // them goes on.
  Result<std::vector<MadeRow>> make(std::uint64_t begin, std::size_t count) {
    while (scratches_.size() < count) scratches_.push_back(core_.preparer->make_scratch());
    std::vector<MadeRow> rows(count);
    std::vector<std::vector<std::byte>> bytes;
    for (std::size_t i = 0; i < count; ++i) {
      ECHOLINE_ASSIGN(std::vector<std::byte> record,
                      record::read_record(core_.data_set->index(), begin + i, source_));
      bytes.push_back(std::move(record));
      scratches_[i].augment_scratch->stages_done = 0;
      note(rows[i], core_.preparer->try_record(begin + i, bytes[i], scratches_[i]));
    }
    if (count > 1) run_together(begin, rows);
    for (std::size_t i = 0; i < count; ++i) {
      if (rows[i].error.empty()) note(rows[i], finish(begin + i, scratches_[i], rows[i].fields));
    }
    return rows;
  }

 private:
  UseKey key(std::uint64_t record) const { return {core_.seed, record, 0, 0}; }
  static void note(MadeRow& row, const Status& status) { row.error = status.message(); }

  void run_together(std::uint64_t begin, std::vector<MadeRow>& rows) {
    std::vector<augment::RowTogether> together;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      augment::Scratch* const scratch = scratches_[i].augment_scratch.get();
      together.push_back({&scratches_[i].sample, key(begin + i), scratch, rows[i].error.empty()});
    }
    core_.preparer->chain().run_together(together, false);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].error.empty() && !together[i].is_good) rows[i].error = "no result in a chunk";
    }
  }

  // Runs what is left of the steps.
  Status finish(std::uint64_t record, batch::WorkerScratch& scratch,
                std::vector<std::string>& fields) {
    const augment::Chain& chain = core_.preparer->chain();
    decode::Sample* sample = &scratch.sample;
    if (chain.has_shared()) {
      ECHOLINE_ASSIGN(sample, chain.run_shared(*sample, key(record), *scratch.augment_scratch));
    }
    std::vector<std::span<std::byte>> rows;
    for (const decode::FieldType& type : core_.ring_spec.fields) {
      std::string& field =
          fields.emplace_back(type.shape.elements() * shm::dtype_bytes(type.dtype), '\0');
      rows.push_back(std::as_writable_bytes(std::span(field.data(), field.size())));
    }
    std::vector<std::uint64_t> lengths(fields.size());
    return chain.run(*sample, key(record), *scratch.augment_scratch, rows, lengths);
  }

  const engine::StreamCore& core_;
  source::Source& source_;
  std::vector<batch::WorkerScratch> scratches_;
};

Status different(const engine::StreamCore& core, std::uint64_t record, const std::string& what) {
  const std::vector<const user_code::Workers*> code = core.preparer->chain().user_code();
  const bool is_plugin = std::ranges::all_of(code, [](const user_code::Workers* workers) {
    return workers->function().library != nullptr;
  });
  return Status(
      Code::kFailedPrecondition,
      fmt::format("{}: it returned something else when it was called again for sample {} (key {}) "
                  "with the same arguments: {}; it may use only its arguments{}",
                  is_plugin ? "plugin.step" : "python.function", record,
                  core.data_set->index().key(record), what,
                  is_plugin ? " and draws from call->key"
                            : ", `rng`, and the generators of random, numpy and torch"));
}

Status differs_in_chunk(const engine::StreamCore& core, std::uint64_t record,
                        const std::string& what) {
  return Status(
      Code::kFailedPrecondition,
      fmt::format(
          "python.function: its result for sample {} (key {}) depends on the other samples "
          "of its chunk: {}; with `batched`, it has to treat each sample by itself, and may "
          "draw only from the generator of that sample",
          record, core.data_set->index().key(record), what));
}

// What differs; empty: nothing.
std::string difference(const engine::StreamCore& core, const MadeRow& first,
                       const MadeRow& second) {
  if (first.error != second.error) return first.error.empty() ? second.error : "the error differs";
  for (std::size_t i = 0; i < std::min(first.fields.size(), second.fields.size()); ++i) {
    if (first.fields[i] != second.fields[i])
      return "field " + core.ring_spec.fields[i].name + " differs";
  }
  return {};
}

// Chunks of `size` instead of single samples.
Status check_chunks(const engine::StreamCore& core, RowAttempts& attempts,
                    const std::vector<MadeRow>& rows, std::size_t size) {
  for (std::size_t begin = 0; begin + 1 < rows.size(); begin += size) {
    ECHOLINE_ASSIGN(const std::vector<MadeRow> chunk,
                    attempts.make(begin, std::min(size, rows.size() - begin)));
    // A sample that is bad by itself makes its chunk fail, which is then called one by one.
    const auto bad = std::ranges::any_of(std::span(rows).subspan(begin, chunk.size()),
                                         [](const MadeRow& row) { return !row.error.empty(); });
    for (std::size_t i = 0; i < chunk.size() && !bad; ++i) {
      const std::string what = difference(core, rows[begin + i], chunk[i]);
      if (!what.empty()) return differs_in_chunk(core, begin + i, what);
    }
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
    ECHOLINE_ASSIGN(std::vector<MadeRow> row, attempts.make(record, 1));
    rows.push_back(std::move(row.front()));
  }
  // Backwards: a function that counts its calls gives other results.
  for (std::uint64_t record = count; record-- > 0;) {
    ECHOLINE_ASSIGN(const std::vector<MadeRow> again, attempts.make(record, 1));
    const std::string what = difference(core, rows[record], again.front());
    if (!what.empty()) return different(core, record, what);
  }
  if (!core.preparer->chain().wants_chunks()) return {};
  ECHOLINE_TRY(check_chunks(core, attempts, rows, kRepeatsMax));
  return check_chunks(core, attempts, rows, kOtherChunk);
}

}  // namespace echoline::cli
