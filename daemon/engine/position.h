// Where a job or a pass stands: a row of an epoch.
#pragma once

#include <compare>
#include <cstdint>

namespace echoline::engine {

struct Position {
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;
  auto operator<=>(const Position&) const = default;
};

}  // namespace echoline::engine
