// Computes the layout of a ring from its spec: the header, the field entries and their sections.
// Pure arithmetic, checked against overflow; it allocates no shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "echoline/shm/ring_layout.h"
#include "ring/ring_spec.h"

namespace echoline::ring {

// The content of the header and of the field entries. The last three entries are the words of each
// row, in this order: sample ids, uses, flags.
struct Layout {
  shm::RingHeader header{};
  std::vector<shm::FieldEntry> fields;

  std::size_t sample_id_field() const { return fields.size() - 3; }
  std::size_t use_field() const { return fields.size() - 2; }
  std::size_t flags_field() const { return fields.size() - 1; }
};

// What this system maps at once: 4096 bytes on x86-64, up to 65536 on aarch64.
std::uint64_t system_page_bytes();

// kInvalidArgument names the field or the number that is not allowed. `page_bytes` is a multiple of
// shm::kPageBytes.
Result<Layout> compute_layout(const RingSpec& spec, std::uint64_t page_bytes = system_page_bytes());

// Bytes of shared memory that a ring of this spec takes; 2^64 - 1 for a spec that is not allowed.
std::uint64_t ring_bytes(const RingSpec& spec);

}  // namespace echoline::ring
