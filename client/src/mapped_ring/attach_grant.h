// What the daemon hands over when it grants a request to attach.
#pragma once

#include <memory>

#include "echoline/shm/door.h"
#include "system/fd_and_mapping.h"

namespace echoline::client {

struct AttachGrant {
  shm::AttachReply reply{};
  std::shared_ptr<GuardedFd> data_fd = std::make_shared<GuardedFd>();  // memfd of the ring
  GuardedFd cursor_fd;  // memfd of this consumer's cursor page
};

}  // namespace echoline::client
