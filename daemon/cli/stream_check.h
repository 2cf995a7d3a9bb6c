// The part of `echoline check` about one stream's data: it opens the stream as a daemon would, but
// starts no thread and creates no ring.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/bad_record_check.h"
#include "echoline/v1/config.pb.h"
#include "engine/remote/server_check.h"

namespace echoline::cli {

// Bytes of one stream with one pass, by use. The window has a minimum, and an additional part to
// keep its samples decoded, of which the daemon uses as much as there is room for.
struct Memory {
  std::uint64_t ring = 0, read_ahead = 0, window = 0, cache = 0, decoded = 0;
  std::uint64_t total() const { return ring + read_ahead + window + cache; }
  // The memory of one more pass, as for when_slow: split.
  std::uint64_t pass() const { return ring + read_ahead + window; }
};

struct Checked {
  const v1::Stream* stream = nullptr;
  bool looked = false;   // the data was opened
  bool indexed = false;  // the index exists, so the other values are known
  bool decoded = false;  // without an index: a first record of each source could be prepared
  // Where the daemon put `echo` and why, or where it could; empty: the pipeline names the place.
  std::string echo_choice;
  std::uint64_t records = 0, rows = 0, batches = 0;
  Memory memory;
  TriedRecords tried;
  std::vector<engine::ServerAnswer> servers;  // of the step `prepare`
  std::vector<std::string> code;  // the users' functions that its steps call, one line each
};

// Opens the storage, lists it (only the first addresses of a store without an index), and decodes a
// first record. If an index exists, also a published one, or none is needed, it opens the stream as
// a daemon would and makes rows of a few records. Blocks. Errors name step and key if possible.
Result<Checked> check_stream(const std::string& name, const v1::Stream& stream,
                             const v1::Daemon& daemon);

}  // namespace echoline::cli
