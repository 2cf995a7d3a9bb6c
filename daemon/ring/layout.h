// Where everything of a ring stands: from a spec to the header, the field entries and their
// sections. Pure arithmetic, checked against overflow; memory is made by others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "echoline/shm/ring_layout.h"
#include "ring/ring.h"

namespace echoline::ring {

// The header's parts and the entries, ready to be written. The last three entries are the words of
// each row, in this order: sample ids, uses, flags.
struct Layout {
  shm::RingHeader header{};
  std::vector<shm::FieldEntry> fields;

  std::size_t sample_id_field() const { return fields.size() - 3; }
  std::size_t use_field() const { return fields.size() - 2; }
  std::size_t flags_field() const { return fields.size() - 1; }
};

// kInvalidArgument names the field or the number that can't be.
Result<Layout> compute_layout(const RingSpec& spec);

}  // namespace echoline::ring
