// Checks of a ring's header and table of fields before any of it is used.
#pragma once

#include <cstdint>

#include "echoline/shm/ring_layout.h"
#include "system/error.h"

namespace echoline::client {

// The checks guarantee that every offset and size that RingView computes from the header and the
// fields stays inside the mapping. DATA_LOSS: not valid; VERSION_MISMATCH: another layout.
Error check_ring_header(const shm::RingHeader& header, std::uint64_t file_bytes);
// `header` has passed check_ring_header.
Error check_ring_field(const shm::RingHeader& header, const shm::FieldEntry& entry);

// Rings of a layout before 1.2 have no log of factor changes.
inline bool has_factor_log(const shm::RingHeader& header) { return header.layout_minor >= 2; }
// Rings of a layout before 1.4, and those of one source, have no log of weights.
inline bool has_weight_log(const shm::RingHeader& header) {
  return header.layout_minor >= 4 && header.weight_log.bytes > 0;
}

}  // namespace echoline::client
