// One reader of a ring, as the engine sees it.
#pragma once

#include <cstdint>

#include "echoline/shm/ring_layout.h"
#include "plan/position.h"

namespace echoline::ring {

// The result of adding a reader.
struct Reader {
  std::uint64_t id = 0;
  std::uint64_t first_sequence = 0;
  int cursor_fd = -1;  // owned by the ring; valid until the reader is removed
};

// The content of a reader's cursor page, checked: a reader with impossible values is `misbehaved`.
struct ReaderView {
  std::uint64_t released = 0;
  std::uint64_t waiting_since_ns = 0;
  std::uint64_t wait_ns = 0;
  std::uint64_t batches = 0;
  plan::Position next;  // of its next batch
  // The range of rows that the reader skipped last; begin and end are equal while there is none.
  plan::Position left_out_begin;
  plan::Position left_out_end;
  shm::DeviceFigures device;  // since it attached; all zero without a GPU
  shm::LossFigures losses{};  // since it attached; as claimed
  bool misbehaved = false;
};

}  // namespace echoline::ring
