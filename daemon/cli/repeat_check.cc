#include "cli/repeat_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augment/hang_watch.h"
#include "cli/row_attempts.h"
#include "record/core/data_set.h"
#include "user_code/workers.h"

namespace echoline::cli {
namespace {

constexpr std::uint64_t kRepeatsMax = 8;
constexpr std::size_t kOtherChunk = 3;

Status different(const engine::StreamCore& core, std::uint64_t record, const std::string& what) {
  const std::vector<const user_code::Workers*> code = core.preparer->chain().user_code();
  const auto is_library = [](const user_code::Workers* workers) {
    return workers->function().library != nullptr;
  };
  const bool is_plugin = std::ranges::all_of(code, is_library);
  const bool has_threads = std::ranges::any_of(
      code, [](const user_code::Workers* workers) { return workers->function().threads; });
  const bool is_either = !is_plugin && std::ranges::any_of(code, is_library);
  return Status(
      Code::kFailedPrecondition,
      fmt::format("{}: it returned something else when it was called again for sample {} (key {}) "
                  "with the same arguments: {}; it may use only its arguments{}",
                  is_either   ? "python.function or plugin.step"
                  : is_plugin ? "plugin.step"
                              : "python.function",
                  record, core.data_set->index().key(record), what,
                  is_plugin ? " and draws from call->key"
                  : has_threads
                      ? " and `rng`: with `threads: true`, other generators are not seeded"
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
    const std::size_t count = std::min(size, rows.size() - begin);
    // A sample that is bad by itself makes its chunk fail, which is then called one by one.
    const auto bad = std::ranges::any_of(std::span(rows).subspan(begin, count),
                                         [](const MadeRow& row) { return !row.error.empty(); });
    if (bad) continue;
    ECHOLINE_ASSIGN(const std::vector<MadeRow> chunk, attempts.make(begin, count));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::string what = difference(core, rows[begin + i], chunk[i]);
      if (!what.empty()) return differs_in_chunk(core, begin + i, what);
    }
  }
  return {};
}

}  // namespace

Status check_repeatable(const engine::StreamCore& core, RowAttempts& attempts,
                        TriedRecords& tried) {
  const augment::Chain& chain = core.preparer->chain();
  const std::uint64_t count = std::min(core.data_set->index().record_count(), kRepeatsMax);
  std::vector<MadeRow> rows;
  std::vector<bool> late;  // whether a call exceeds `timeout` depends on time: nothing to compare
  const augment::HangWatch first_calls(chain);
  for (std::uint64_t record = 0; record < count && !first_calls.hangs(); ++record) {
    const augment::HangWatch call(chain);
    ECHOLINE_ASSIGN(std::vector<MadeRow> row, attempts.make(record, 1));
    rows.push_back(std::move(row.front()));
    late.push_back(call.given_up() > 0);
    tried.note(record, rows.back().error, core);
  }
  const augment::HangWatch second_calls(chain);
  // Backwards: a function that counts its calls gives other results.
  for (std::uint64_t record = rows.size(); record-- > 0 && !second_calls.hangs();) {
    if (late[record]) continue;
    const augment::HangWatch call(chain);
    ECHOLINE_ASSIGN(const std::vector<MadeRow> again, attempts.make(record, 1));
    if (call.given_up() > 0) continue;
    const std::string what = difference(core, rows[record], again.front());
    if (!what.empty()) return different(core, record, what);
    ++tried.repeated;
  }
  const bool hangs = first_calls.hangs() || second_calls.hangs();
  tried.is_short = tried.is_short || hangs;
  if (hangs || !chain.has_batched_step()) return {};
  ECHOLINE_TRY(check_chunks(core, attempts, rows, kRepeatsMax));
  return check_chunks(core, attempts, rows, kOtherChunk);
}

}  // namespace echoline::cli
