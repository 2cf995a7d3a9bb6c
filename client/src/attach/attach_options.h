// What a trainer asks for when it attaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "echoline/shm/door.h"
#include "state/fingerprint.h"
#include "state/position.h"
#include "system/error.h"

namespace echoline::client {

struct AttachOptions {
  std::string stream;
  std::string job = "default";
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;        // of all ranks together; 0: the stream's
  std::uint32_t local_world_size = 0;  // ranks of the job on this host; 0: not known
  shm::JoinAt join = shm::kJoinStart;
  Position position;                      // with kJoinPosition
  std::vector<shm::FactorEntry> changes;  // of the echo factor; with kJoinPosition
  std::vector<shm::WeightEntry> weights;  // changes of a mixture's weights; with kJoinPosition
  bool has_fingerprint = false;           // the stream must have `fingerprint` and `plan_version`
  Fingerprint fingerprint{};
  std::uint32_t plan_version = 0;  // 0: any
  bool reattaching = false;        // this trainer was attached before and continues
  bool overlap = false;            // ECHOLINE_ATTACH_OVERLAP
};

// INVALID_ARGUMENT: a name does not fit, the rank is not below the world size, or the batch size is
// not divisible by it.
Error check_options(const AttachOptions& options);
// The message for the daemon. `options` has passed check_options.
shm::AttachRequest to_request(const AttachOptions& options);
// How many of its bytes are sent.
inline std::size_t bytes_of(const shm::AttachRequest& request) {
  return request.weight_count > 0 ? sizeof(request) : shm::kRequestBytesWithoutWeights;
}

}  // namespace echoline::client
