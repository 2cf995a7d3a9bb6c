#include "engine/open/memory_plan.h"

#include <algorithm>
#include <cmath>

#include "base/scheme.h"
#include "echoline/v1/config.pb.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kLeastAheadBytes = 8 << 20;
// A disk is seldom late by more, a store can be out of reach for as long.
constexpr std::uint64_t kCoverDiskNs = 500'000'000;
constexpr std::uint64_t kCoverStoreNs = 20'000'000'000;

std::uint64_t row_bytes(const std::vector<decode::FieldType>& types) {
  std::uint64_t bytes = 0;
  for (const decode::FieldType& type : types) {
    bytes += type.shape.elements() * shm::dtype_bytes(type.dtype);
  }
  return bytes;
}

// Looking further ahead than two epochs only holds memory; the records of a common batch are
// fetched together, however little is to be read ahead. There must be room for the largest record
// beside a chunk that waits for it.
std::uint64_t most_ahead_bytes(const v1::Read& read, const record::Index& index,
                               std::uint64_t batch_rows, std::uint64_t mean_bytes) {
  const std::uint64_t wanted =
      std::min(std::max<std::uint64_t>(read.read_ahead(), batch_rows * mean_bytes),
               2 * index.record_count() * mean_bytes);
  return std::max(wanted,
                  index.record_bytes_max() + kChunkBytes + batch_rows * kAheadOverheadBytes);
}

// Neighbours share a request if they are ordered together, which is a quarter of what is ahead, and
// they are found over the whole shuffle window.
ReadAhead::Options read_ahead(const v1::Read& read, const StreamCore& core) {
  const record::Index& index = core.data_set->index();
  const plan::PlanSpec& plan = core.plan->spec();
  const std::uint64_t mean_bytes =
      index.record_bytes_total() / index.record_count() + kAheadOverheadBytes;
  const std::uint64_t together =
      std::max<std::uint64_t>(plan.batch_rows, std::min(plan.shuffle_window, index.record_count()));
  const bool disk = is_local(read.url(0)) && !read.has_throttle();
  const std::uint64_t most = most_ahead_bytes(read, index, plan.batch_rows, mean_bytes);
  // A store may have a while during the first steps, and it may be what is too slow.
  return {.least_bytes = std::max(kLeastAheadBytes, 4 * together * mean_bytes),
          .most_bytes = most,
          .cover_ns = disk ? kCoverDiskNs : kCoverStoreNs,
          .first_bytes = disk ? 0 : most};
}

// What so many records of a shuffled epoch take together: their mean, and four standard deviations
// of the sum of a sample without replacement (Cochran, Sampling Techniques, 2.5).
std::uint64_t bytes_of_any(const record::Index& index, std::uint64_t records) {
  const auto count = static_cast<double>(index.record_count());
  const double mean = static_cast<double>(index.record_bytes_total()) / count;
  double squares = 0;
  for (std::uint64_t record = 0; record < index.record_count(); ++record) {
    const double difference = static_cast<double>(index.extent(record).bytes) - mean;
    squares += difference * difference;
  }
  const auto sample = static_cast<double>(records);
  const double variance = sample * (1 - sample / count) * squares / std::max(1.0, count - 1);
  return std::min(static_cast<std::uint64_t>(sample * mean + 4 * std::sqrt(variance)),
                  index.record_bytes_total());
}

// What one pass keeps for echoing, at least (encoded) and at best (in the form that is re-used).
void set_window_bytes(std::uint64_t decoded_bytes, StreamCore& core) {
  const plan::PlanSpec& plan = core.plan->spec();
  const record::Index& index = core.data_set->index();
  const std::uint64_t items = std::min(core.plan->kept_max(), index.record_count());
  if (plan.echo_point == plan::EchoPoint::kNone || plan.echo_point == plan::EchoPoint::kBatch) {
    return;
  }
  core.window_floor_bytes = bytes_of_any(index, items);
  if (plan.echo_point == plan::EchoPoint::kSample) {
    core.window_wish_bytes = items * decoded_bytes;
  } else if (plan.echo_point == plan::EchoPoint::kAugmented) {
    core.window_wish_bytes = items * row_bytes(core.preparer->row_types());
  }
}

}  // namespace

void size_pass(const v1::Read& read, std::uint64_t decoded_bytes, StreamCore& core) {
  core.read_ahead = read_ahead(read, core);
  set_window_bytes(decoded_bytes, core);
}

}  // namespace echoline::engine
