// A trainer's position as JSON, for its checkpoints (semantics.md, Positions and states).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attach_request.h"

namespace echoline::client {

inline constexpr std::uint32_t kStateVersion = 1;
inline constexpr std::size_t kStateBytesMax = 65536;

// The place in the order of device echo; see cuda/device_echo.h.
struct DevicePlace {
  std::uint32_t factor = 1;
  std::uint32_t window = 1;
  std::uint64_t step = 0;  // counted from the batch at the state's position
};

struct State {
  std::uint32_t plan_version = 0;
  Fingerprint fingerprint{};
  std::string stream;
  Position position;
  std::uint32_t batch_size = 0;
  std::vector<shm::FactorEntry> changes;  // of the position's epoch
  std::optional<DevicePlace> device;      // under device echo
};

std::string write_state(const State& state);
// Strict: every member once, but for that of device echo, and no other, integers in range, UTF-8
// taken as it is.
Error parse_state(std::string_view text, State& state);

}  // namespace echoline::client
