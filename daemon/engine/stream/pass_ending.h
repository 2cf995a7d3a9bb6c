// Passes that end, and the trainers that are notified of it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "engine/stream/stream.h"

namespace echoline::engine {

struct PassEnding {
  std::vector<std::shared_ptr<Pass>> passes;
  std::vector<std::uint64_t> connections;
  shm::WriterState state = shm::kWriterEnded;
  shm::NoticeKind kind = shm::kNoticeDetached;
  Status status;

  // All passes and trainers of a stream.
  void add(const Stream& stream);
};

PassEnding ending_of(const Stream& stream, shm::NoticeKind kind, Status status);

}  // namespace echoline::engine
