// The counters of a preparation server's address.
#pragma once

#include <cstdint>

namespace echoline::serve {

struct PreparationCounts {
  std::uint64_t connections = 0;
  std::uint64_t refused_connections = 0;
  std::uint64_t calls_ended = 0;
  std::uint64_t calls_answered = 0;  // of them
  std::uint64_t calls_denied = 0;
  std::int64_t certificate_not_after = 0;  // seconds since 1970
};

}  // namespace echoline::serve
