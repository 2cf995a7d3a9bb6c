// Fields whose rows differ in length: per slot a run of values and batch_rows + 1 offsets.
#include <cstring>

#include "base/check.h"
#include "ring/shared_ring.h"

namespace echoline::ring {

std::byte* SharedRing::ragged_row(std::size_t field, std::uint32_t slot, std::uint32_t row) {
  const std::uint64_t place = std::uint64_t{slot} * spec_.batch_rows + row;
  return mapping_.arena(field) + place * layout_.fields[field].row_bytes;
}

void SharedRing::finish_ragged(std::size_t field, std::uint32_t slot,
                               std::span<const std::uint64_t> lengths_bytes) {
  ECHOLINE_CHECK(slot < spec_.slot_count && lengths_bytes.size() <= spec_.batch_rows);
  const shm::FieldEntry& entry = layout_.fields[field];
  const std::uint64_t element_bytes = shm::dtype_bytes(entry.dtype);
  std::byte* const values = ragged_row(field, slot, 0);
  std::uint64_t* const offsets =
      mapping_.offsets(field) + slot * (std::uint64_t{spec_.batch_rows} + 1);
  std::uint64_t end = 0;
  for (std::uint32_t row = 0; row < spec_.batch_rows; ++row) {
    const std::uint64_t bytes = row < lengths_bytes.size() ? lengths_bytes[row] : 0;
    ECHOLINE_CHECK(bytes <= entry.row_bytes && bytes % element_bytes == 0);
    offsets[row] = end;
    // Downwards only, and each row over what has been moved already: memmove for the overlap with
    // itself.
    if (bytes != 0) std::memmove(values + end, ragged_row(field, slot, row), bytes);
    end += bytes;
  }
  offsets[spec_.batch_rows] = end;
}

}  // namespace echoline::ring
