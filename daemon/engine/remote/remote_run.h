// What a client of preparation servers is asked, and what it answers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "engine/remote/rendezvous.h"

namespace echoline::engine {

// One request: neighbours of one place.
struct RemoteRun {
  std::uint64_t tag = 0;
  Place place;
  std::vector<std::uint64_t> records;
};

// The answer to a run. kUnavailable: no server can be reached, so that it is not prepared
// elsewhere.
struct RemoteResult {
  std::uint64_t tag = 0;
  Status status;
  // Frames of the first records of the run, checked; at least one. The others have to be asked for
  // again.
  std::vector<std::shared_ptr<Buffer>> frames{};
};

}  // namespace echoline::engine
