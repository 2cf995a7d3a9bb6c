// A position in the stream's order of rows.
#pragma once

#include <cstdint>

namespace echoline::client {

// The next batch of the job begins at `row` (0-based, of all ranks together) of `epoch`.
struct Position {
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;
  bool operator==(const Position&) const = default;
};

}  // namespace echoline::client
