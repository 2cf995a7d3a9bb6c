// A trainer's state as JSON, for its checkpoints (docs/semantics.md, Positions and states).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echoline/shm/door.h"
#include "state/fingerprint.h"
#include "state/position.h"
#include "system/error.h"

namespace echoline::client {

inline constexpr std::uint32_t kStateVersion = 1;
inline constexpr std::size_t kStateBytesMax = 65536;

// The position in the order of device echo; see cuda/device_echo.h.
struct DeviceEchoPosition {
  std::uint32_t factor = 1;
  std::uint32_t window = 1;
  std::uint64_t step = 0;  // counted from the batch at the state's position
};

// Everything a loader needs to continue with the next batch.
struct State {
  std::uint32_t plan_version = 0;
  Fingerprint fingerprint{};
  std::string stream;
  Position position;
  std::uint32_t batch_size = 0;              // of all ranks together
  std::vector<shm::FactorEntry> changes;     // of the echo factor, within the position's epoch
  std::vector<shm::WeightEntry> weights;     // changes of a mixture's, likewise
  std::optional<DeviceEchoPosition> device;  // only under device echo
};

std::string write_state(const State& state);
// Strict: each member must occur exactly once (weights and device_echo at most once), no others may
// occur, and integers must be in range. Text is accepted as any bytes; UTF-8 is not validated.
// INVALID_ARGUMENT names the mistake; VERSION_MISMATCH: the state is of another library version.
Error parse_state(std::string_view text, State& state);

}  // namespace echoline::client
