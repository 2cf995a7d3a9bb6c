#include "rows.h"

#include "wide.h"

namespace echoline::client {
namespace {

// floor(rank * rows / world): 128 bits, so that no size overflows.
std::uint64_t share(std::uint64_t rank, std::uint64_t rows, std::uint64_t world) {
  return static_cast<std::uint64_t>(static_cast<Wide>(rank) * rows / world);
}

}  // namespace

Slice slice_of(const Cut& cut, std::uint64_t valid) {
  Slice slice;
  const bool whole = valid == cut.batch_size;
  if (!whole && cut.last == shm::kLastDrop) return slice;
  const std::uint64_t full = cut.batch_size / cut.world_size;
  if (whole) {
    slice.begin = cut.rank * full;
    slice.end = slice.begin + full;
    slice.rows = full;
    return slice;
  }
  slice.begin = share(cut.rank, valid, cut.world_size);
  slice.end = share(std::uint64_t{cut.rank} + 1, valid, cut.world_size);
  const bool fill = cut.last == shm::kLastPad || valid < cut.world_size;
  slice.rows = fill ? full : slice.valid();
  return slice;
}

std::uint64_t steps_between(const Cut& cut, std::uint64_t row, std::uint64_t epoch_rows) {
  if (row >= epoch_rows) return 0;
  const std::uint64_t left = epoch_rows - row;
  const std::uint64_t whole = left / cut.batch_size;
  return whole + (left % cut.batch_size != 0 && cut.last != shm::kLastDrop ? 1 : 0);
}

}  // namespace echoline::client
