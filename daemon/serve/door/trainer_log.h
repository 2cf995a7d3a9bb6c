// Log lines about trainers that misbehave, with a limit per second.
#pragma once

#include <cstdint>
#include <string_view>

#include "serve/door/door_connection.h"

namespace echoline::serve {

// A hostile trainer could fill the log, so at most five lines a second are written and the others
// are counted. One thread.
class TrainerLog {
 public:
  void warn(const Connection& connection, std::string_view what);

 private:
  std::uint64_t second_start_ns_ = 0;
  std::uint64_t lines_ = 0;  // within this second, those left out included
};

}  // namespace echoline::serve
