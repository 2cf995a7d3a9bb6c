// The part of `echoline check` about records: how many of a few are bad.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/status.h"
#include "cli/row_attempts.h"

namespace echoline::cli {

struct TriedRecords {
  std::set<std::uint64_t> tried;
  std::uint64_t bad = 0;
  std::string first_error;     // names the record; empty if none is bad
  bool is_short = false;       // users' code hangs, so no more were tried
  std::uint64_t repeated = 0;  // whose rows were made twice, and were equal

  // Counts each record once. `error`: what is wrong with it; empty: nothing.
  void note(std::uint64_t record, const std::string& error, const engine::StreamCore& core);
  // Why no more were tried; empty: as many as intended were.
  std::string short_text() const;
};

// Makes rows of up to 16 records from all over the data set (of compressed shards: of the first
// ones, because a record costs the unpacking of all before it). An error: a record cannot be read.
// Fewer if users' code hangs. Blocks.
Result<TriedRecords> try_records(const engine::StreamCore& core, RowAttempts& attempts);
// An error if there are more bad ones than an epoch may have: a training would end in it.
Status check_bad(const TriedRecords& records, const engine::StreamCore& core);

}  // namespace echoline::cli
