// What a search for the number of requests has found at an endpoint.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::source {

struct LearnedLimit {
  std::size_t requests = 0;  // 0: not known
  std::uint64_t bytes_per_second = 0;
};

}  // namespace echoline::source
