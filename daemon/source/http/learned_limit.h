// What a search for the number of requests has found at an endpoint.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::source {

struct LearnedLimit {
  std::size_t limit = 0;               // requests at the same time; 0: not known
  std::uint64_t bytes_per_second = 0;  // with so many; 0: not known
  bool operator==(const LearnedLimit&) const = default;
};

}  // namespace echoline::source
