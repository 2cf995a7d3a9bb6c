// What a client of preparation servers is asked, and what it answers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "engine/remote/rendezvous.h"

namespace echoline::engine {

// What one request should have at most: short, so that a late one delays little, and long enough
// for tiny records.
inline constexpr std::uint64_t kAnswerBytes = 2 << 20;
inline constexpr std::size_t kRequestRecords = 512;

// Neighbours of one place, no more than one request should have.
struct RemoteRun {
  std::uint64_t tag = 0;
  Place place;
  std::vector<std::uint64_t> records;
  std::uint64_t bytes = 0;  // of their frames, estimated
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
