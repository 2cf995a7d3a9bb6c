// A trainer's request to attach that has not been answered yet.
#pragma once

#include <cstdint>

#include "engine/api/attach.h"

namespace echoline::engine {

struct AttachCall {
  std::uint64_t connection = 0;
  shm::AttachRequest request{};
  Peer peer;
  ReplyFunction reply;  // called exactly once, unless the trainer is withdrawn before
};

}  // namespace echoline::engine
