#include "mapped_ring/rank_slice.h"

#include "system/uint128.h"

namespace echoline::client {
namespace {

// floor(rank * rows / world), in 128 bits so that no product overflows.
std::uint64_t share(std::uint64_t rank, std::uint64_t rows, std::uint64_t world) {
  return static_cast<std::uint64_t>(static_cast<Uint128>(rank) * rows / world);
}

}  // namespace

RankRows rank_rows(const RankSlice& slice, std::uint64_t valid) {
  RankRows result;
  const bool whole = valid == slice.batch_size;
  // Not delivered under `drop`.
  if (!whole && slice.last == shm::kLastDrop) return result;
  const std::uint64_t full = slice.batch_size / slice.world_size;
  if (whole) {
    result.begin = slice.rank * full;
    result.end = result.begin + full;
    result.rows = full;
    return result;
  }
  // A short last batch: its rows are divided evenly. If there are fewer rows than ranks, some ranks
  // have none of their own; then all ranks pad, also under last: partial, so that all have a batch.
  result.begin = share(slice.rank, valid, slice.world_size);
  result.end = share(std::uint64_t{slice.rank} + 1, valid, slice.world_size);
  const bool fill = slice.last == shm::kLastPad || valid < slice.world_size;
  result.rows = fill ? full : result.valid();
  return result;
}

std::uint64_t steps_between(const RankSlice& slice, std::uint64_t row, std::uint64_t epoch_rows) {
  if (row >= epoch_rows) return 0;
  const std::uint64_t left = epoch_rows - row;
  const std::uint64_t whole = left / slice.batch_size;
  // The rest makes a short batch, unless it is dropped.
  return whole + (left % slice.batch_size != 0 && slice.last != shm::kLastDrop ? 1 : 0);
}

}  // namespace echoline::client
