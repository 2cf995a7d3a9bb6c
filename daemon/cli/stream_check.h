// What `echoline check` finds out about one stream beyond its definition: about its data, and what
// a daemon would do with them. Nothing is started, no ring is made.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::cli {

// Bytes of one stream with one pass, by use; the window is what it needs at least, and what its
// samples take besides if they are to be kept decoded, which a daemon does as far as there is room.
struct Memory {
  std::uint64_t ring = 0, read_ahead = 0, window = 0, cache = 0, decoded = 0;
  std::uint64_t total() const { return ring + read_ahead + window + cache; }
  // What one more pass takes, as under when_slow: split.
  std::uint64_t pass() const { return ring + read_ahead + window; }
};

struct Checked {
  const v1::Stream* stream = nullptr;
  bool looked = false;   // at the data
  bool indexed = false;  // then the rest is known
  std::uint64_t records = 0, rows = 0, batches = 0;
  Memory memory;
};

// Opens the storage, lists (of a store without an index: the first addresses only), and decodes a
// first record. Where the index is known, published ones included, or none is needed, opens the
// stream as a daemon would.
// Blocks; errors name step and key where they can.
Result<Checked> check_stream(const std::string& name, const v1::Stream& stream,
                             const v1::Daemon& daemon);

}  // namespace echoline::cli
