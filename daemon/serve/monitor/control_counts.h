// Counters of the control service.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::serve {

struct ControlCounts {
  std::size_t unix_connections = 0;
  std::size_t tls_connections = 0;
  std::uint64_t refused = 0;       // connections closed because there were too many
  std::uint64_t calls_denied = 0;  // by may_call
  bool has_tls = false;            // the fields below are valid
  std::uint64_t reloads_ok = 0;
  std::uint64_t reloads_failed = 0;
  std::int64_t certificate_not_after = 0;  // seconds since 1970
};

}  // namespace echoline::serve
