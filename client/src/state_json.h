// A trainer's position as JSON, for its checkpoints (RULES 12 of docs/semantics.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attach_request.h"

namespace echoline::client {

inline constexpr std::uint32_t kStateVersion = 1;
inline constexpr std::size_t kStateBytesMax = 65536;

struct State {
  std::uint32_t plan_version = 0;
  Fingerprint fingerprint{};
  std::string stream;
  Position position;
  std::uint32_t batch_size = 0;
  std::vector<shm::FactorEntry> changes;  // of the position's epoch
};

std::string write_state(const State& state);
// Strict: every member once and no other, integers in range, UTF-8 taken as it is.
Error parse_state(std::string_view text, State& state);

}  // namespace echoline::client
