#include "engine/pass/chunk_size.h"

#include <algorithm>

namespace echoline::engine {
namespace {

// The work of a group whose rows go through users' code together.
constexpr std::uint64_t kGroupNs = 2'000'000;
// Bounds the time of a task where records are tiny.
constexpr std::uint64_t kChunkRowsMax = 64;

// The largest number of rows of a group, whose results are in memory at the same time.
std::uint32_t group_rows_max(const StreamCore& core) {
  std::uint64_t row_bytes = 1;
  for (const decode::FieldType& type : core.ring_spec.fields)
    row_bytes += type.shape.elements() * shm::dtype_bytes(type.dtype);
  const auto most = std::max<std::uint64_t>(1, kTogetherBytes / row_bytes);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(most, core.preparer->chain().together_max()));
}

}  // namespace

ChunkSize::ChunkSize(const StreamCore& core) : core_(core), group_rows_max_(group_rows_max(core)) {}

std::uint32_t ChunkSize::group_rows() const {
  if (group_rows_max_ == 1 || core_.preparer->chain().has_batched_step()) return group_rows_max_;
  const StreamCounters& counters = *core_.counters;
  const std::uint64_t made = counters.prepare_first_rows.load(std::memory_order_relaxed) +
                             counters.prepare_again_rows.load(std::memory_order_relaxed);
  const std::uint64_t ns = counters.prepare_first_ns.load(std::memory_order_relaxed) +
                           counters.prepare_again_ns.load(std::memory_order_relaxed);
  if (made == 0) return 1;
  // Where a row takes long, an exchange of messages costs little, and other workers have no work.
  const std::uint64_t rows = kGroupNs / std::max<std::uint64_t>(1, ns / made);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rows, 1, group_rows_max_));
}

ChunkLimits ChunkSize::limits(std::uint64_t mean_record_bytes) const {
  const auto usual = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kChunkBytes / mean_record_bytes, 1, kChunkRowsMax));
  const std::uint32_t rows = group_rows();
  if (rows == 1) return {.rows = usual, .bytes = kChunkBytes};
  return {.rows = std::max(usual, rows), .bytes = kTogetherBytes};
}

}  // namespace echoline::engine
