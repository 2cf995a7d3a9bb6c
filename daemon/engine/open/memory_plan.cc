#include "engine/open/memory_plan.h"

#include <algorithm>
#include <cmath>

#include "base/scheme.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/stream_core.h"

namespace echoline::engine {
namespace {

// The target never falls below this, whatever is measured.
constexpr std::uint64_t kLeastAheadBytes = 8 << 20;
// A disk is rarely late by more; a store can be out of reach for so long.
constexpr std::uint64_t kCoverDiskNs = 500'000'000;
constexpr std::uint64_t kCoverStoreNs = 20'000'000'000;

std::uint64_t grown(std::uint64_t bytes, double growth) {
  return static_cast<std::uint64_t>(growth * static_cast<double>(bytes));
}

std::uint64_t row_bytes(const std::vector<decode::FieldType>& types) {
  std::uint64_t bytes = 0;
  for (const decode::FieldType& type : types) {
    bytes += type.shape.elements() * shm::dtype_bytes(type.dtype);
  }
  return bytes;
}

// More than two epochs ahead is of no use. The records of a batch are fetched together, even if
// read.read_ahead is less than a batch. The largest record must fit in addition to a chunk that
// waits for it.
std::uint64_t most_ahead_bytes(const v1::Read& read, const record::Index& index,
                               std::uint64_t batch_rows, std::uint64_t mean_bytes, double growth,
                               std::uint64_t chunk_bytes) {
  // The numbers of a data set in Python are there at once.
  const std::uint64_t ahead = read.has_python() ? kLeastAheadBytes : read.read_ahead();
  const std::uint64_t wanted = std::min(std::max<std::uint64_t>(ahead, batch_rows * mean_bytes),
                                        // Without the maximum below, a record larger than the limit
                                        // could never be requested.
                                        2 * index.record_count() * mean_bytes);
  return std::max(wanted, grown(index.record_bytes_max(), growth) + chunk_bytes +
                              batch_rows * kAheadOverheadBytes);
}

// Adjacent records share a request if they are requested together. A quarter of what is ahead is
// requested at a time, and adjacent records are spread over the whole shuffle window.
ReadAhead::Options read_ahead(const v1::Read& read, const record::Index& index,
                              const plan::PlanSpec& plan, double growth,
                              std::uint64_t chunk_bytes) {
  const std::uint64_t mean_bytes =
      grown(index.record_bytes_total() / index.record_count(), growth) + kAheadOverheadBytes;
  const std::uint64_t together =
      // Records that can be neighbours in a request: those of a batch, or of one shuffle window.
      std::max<std::uint64_t>(
          plan.batch_rows,
          std::min(plan.scatters_records() ? plan::kWindowAll : plan.shuffle_window,
                   index.record_count()));
  // A throttled local source imitates a store.
  const bool local = read.has_python() || is_local(read.url(0));
  const bool disk = local && !read.has_throttle() && growth == 1;
  const std::uint64_t most =
      most_ahead_bytes(read, index, plan.batch_rows, mean_bytes, growth, chunk_bytes);
  // A store may be the bottleneck from the first step on, so it starts with all there is room for.
  // Four times, because a refill requests a quarter of the target (ReadAheadPlanner::look_ahead).
  return {.least_bytes = std::max(kLeastAheadBytes, 4 * together * mean_bytes),
          .most_bytes = most,
          .cover_ns = disk ? kCoverDiskNs : kCoverStoreNs,
          .first_bytes = disk ? 0 : most};
}

// An upper estimate of the bytes of so many records of a shuffled epoch: the mean of their sum plus
// four standard deviations, for a sample without replacement (Cochran, Sampling Techniques, 2.5).
std::uint64_t bytes_of_any(const record::Index& index, std::uint64_t records) {
  const auto count = static_cast<double>(index.record_count());
  const double mean = static_cast<double>(index.record_bytes_total()) / count;
  // One pass over the index when the stream is opened; sizes are already in memory.
  double squares = 0;
  for (std::uint64_t record = 0; record < index.record_count(); ++record) {
    const double difference = static_cast<double>(index.extent(record).bytes) - mean;
    squares += difference * difference;
  }
  const auto sample = static_cast<double>(records);
  // Variance of a sum drawn without replacement: n * S^2 * (1 - n / N).
  const double variance = sample * (1 - sample / count) * squares / std::max(1.0, count - 1);
  // All records together are the most that any window can hold.
  return std::min(static_cast<std::uint64_t>(sample * mean + 4 * std::sqrt(variance)),
                  index.record_bytes_total());
}

}  // namespace

MemoryPlan plan_memory(const v1::Read& read, const record::Index& index, const plan::Plan& plan,
                       const std::vector<decode::FieldType>& row_types, std::uint64_t kept_bytes,
                       double growth, std::uint64_t chunk_bytes) {
  const plan::PlanSpec& spec = plan.spec();
  MemoryPlan memory{.read_ahead = read_ahead(read, index, spec, growth, chunk_bytes)};
  // Under batch echo the slots hold what is repeated.
  if (spec.echo_point == plan::EchoPoint::kNone || spec.echo_point == plan::EchoPoint::kBatch) {
    return memory;
  }
  // At most those of an epoch: a window can be larger.
  const std::uint64_t items = plan.kept_max();
  // A list can have records several times, so the window can have more items than there are.
  const std::uint64_t records = std::min(items, index.record_count());
  memory.window_floor_bytes =
      grown(bytes_of_any(index, records), growth) * ((items + records - 1) / records);
  if (spec.echo_point == plan::EchoPoint::kSample) {
    memory.window_wish_bytes = items * kept_bytes;
  } else if (spec.echo_point == plan::EchoPoint::kAugmented) {
    memory.window_wish_bytes = items * row_bytes(row_types);
  }
  return memory;
}

}  // namespace echoline::engine
