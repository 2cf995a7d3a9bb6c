#include "engine/open/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/scheme.h"
#include "echoline/v1/config.pb.h"
#include "engine/fetch/request_coalescer.h"
#include "engine/open/stream_core.h"

namespace echoline::engine {
namespace {

// The target never falls below this, whatever is measured.
constexpr std::uint64_t kLeastAheadBytes = 8 << 20;
// A disk is rarely late by more; a store can be out of reach for so long.
constexpr std::uint64_t kCoverDiskNs = 500'000'000;
constexpr std::uint64_t kCoverStoreNs = 20'000'000'000;
// Records of which a read has enough.
constexpr std::uint64_t kJoinedBytesMax = RequestCoalescer::kNearReadBytes / 8;

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

std::uint64_t mean_ahead_bytes(const record::Index& index, double growth) {
  return grown(index.record_bytes_total() / index.record_count(), growth) + kAheadOverheadBytes;
}

// Of a shuffle window whose records are requested together (RequestQueue); 0 if they are not.
std::uint64_t shuffle_window_bytes(const plan::PlanSpec& plan, const record::Index& index,
                                   double growth) {
  // Several lanes, or several sources, have as many windows at a time, which begin anywhere.
  if (plan.scatters_records() || plan.lanes > 1 || plan.mix || plan.shuffle_window <= 1) return 0;
  const std::uint64_t mean_bytes = mean_ahead_bytes(index, growth);
  const std::uint64_t bytes = std::min(plan.shuffle_window, index.record_count()) * mean_bytes;
  // Neighbours of that size would save no request worth mentioning.
  if (mean_bytes > kJoinedBytesMax) return 0;
  // A batch needs few of the window's reads, and these should come first.
  if (bytes > 2 * plan.batch_rows * RequestCoalescer::kNearReadBytes) return 0;
  return bytes;
}

// Adjacent records share a request if they are requested together, and they are spread over the
// whole shuffle window.
ReadAhead::Options read_ahead(const v1::Read& read, const record::Index& index,
                              const plan::PlanSpec& plan, double growth,
                              std::uint64_t chunk_bytes) {
  const std::uint64_t mean_bytes = mean_ahead_bytes(index, growth);
  const std::uint64_t together =
      // Records that can be neighbours in a request: those of a batch, or of one shuffle window.
      std::max<std::uint64_t>(
          plan.batch_rows,
          std::min(plan.scatters_records() ? plan::kWindowAll : plan.shuffle_window,
                   index.record_count()));
  // A throttled local source imitates a store.
  const bool local =
      read.has_python() ||
      std::ranges::all_of(read.url(), [](const std::string& url) { return is_local(url); });
  const bool disk = local && !read.has_throttle() && growth == 1;
  const std::uint64_t most =
      most_ahead_bytes(read, index, plan.batch_rows, mean_bytes, growth, chunk_bytes);
  // A store may be the bottleneck from the first step on, so it starts with all there is room for.
  // Four times, because a refill that is not by windows requests a quarter of the target
  // (ReadAheadPlanner::look_ahead).
  const std::uint64_t least = std::max(kLeastAheadBytes, 4 * together * mean_bytes);
  return {.least_bytes = least,
          .most_bytes = most,
          .cover_ns = disk ? kCoverDiskNs : kCoverStoreNs,
          .first_bytes = disk ? 0 : most};
}

// Two passes over the index when the stream is opened; sizes are already in memory.
PartSizes sizes_of(const record::Index& index, const record::Part& part) {
  PartSizes sizes{.records = part.records};
  const std::uint64_t end = part.first_record + part.records;
  for (std::uint64_t record = part.first_record; record < end; ++record) {
    sizes.bytes += index.extent(record).bytes;
  }
  const double mean = static_cast<double>(sizes.bytes) / static_cast<double>(sizes.records);
  for (std::uint64_t record = part.first_record; record < end; ++record) {
    const double difference = static_cast<double>(index.extent(record).bytes) - mean;
    sizes.squares += difference * difference;
  }
  return sizes;
}

// An upper estimate of the bytes of so many records of a shuffled epoch: the mean of their sum plus
// four standard deviations, for a sample without replacement (Cochran, Sampling Techniques, 2.5).
std::uint64_t bytes_of_any(const PartSizes& part, std::uint64_t records) {
  const auto count = static_cast<double>(part.records);
  const auto sample = static_cast<double>(records);
  const double mean = static_cast<double>(part.bytes) / count;
  // Variance of a sum drawn without replacement: n * S^2 * (1 - n / N).
  const double variance = sample * (1 - sample / count) * part.squares / std::max(1.0, count - 1);
  // All records together are the most that any window can hold.
  return std::min(static_cast<std::uint64_t>(sample * mean + 4 * std::sqrt(variance)), part.bytes);
}

// Of a part that has so many items in a window. A list or a mixture can have records several times,
// so there can be more items than records.
std::uint64_t window_bytes(const PartSizes& part, std::uint64_t items) {
  if (items == 0) return 0;
  const std::uint64_t records = std::min(items, part.records);
  return bytes_of_any(part, records) * ((items + records - 1) / records);
}

// The encoded records of a window of so many items. Of a mixture, each source has its share; where
// the others go on without a source that has ended, one source can have all of them.
std::uint64_t window_bytes(const std::vector<PartSizes>& parts, const plan::PlanSpec& spec,
                           std::uint64_t items, const std::vector<std::uint32_t>& weights) {
  if (!spec.mix) return window_bytes(parts.front(), items);
  const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    // To within as many rows as there are sources (plan/mix_rows.h).
    const std::uint64_t share = items * weights[part] / all + parts.size();
    sum += window_bytes(parts[part], std::min(items, share));
    most = std::max(most, window_bytes(parts[part], items));
  }
  return spec.mix->at_end == plan::MixEnd::kDrop ? std::max(sum, most) : sum;
}

// Under batch echo the slots hold what is repeated.
bool has_window(const plan::PlanSpec& spec) {
  return spec.echo_point != plan::EchoPoint::kNone && spec.echo_point != plan::EchoPoint::kBatch;
}

}  // namespace

std::uint64_t window_floor_bytes(const std::vector<PartSizes>& parts, const plan::Plan& plan,
                                 const std::vector<std::uint32_t>& weights) {
  // At most those of an epoch: a window can be larger.
  if (!has_window(plan.spec())) return 0;
  return window_bytes(parts, plan.spec(), plan.kept_max(), weights);
}

MemoryPlan plan_memory(const v1::Read& read, const record::DataSet& data_set,
                       const plan::Plan& plan, const std::vector<decode::FieldType>& row_types,
                       std::uint64_t kept_bytes, double growth, std::uint64_t chunk_bytes) {
  const plan::PlanSpec& spec = plan.spec();
  const record::Index& index = data_set.index();
  MemoryPlan memory{.read_ahead = read_ahead(read, index, spec, growth, chunk_bytes),
                    .shuffle_window_bytes = shuffle_window_bytes(spec, index, growth)};
  if (!has_window(spec)) return memory;
  const std::uint64_t items = plan.kept_max();
  const auto weights = spec.mix ? spec.mix->weights : std::vector<std::uint32_t>();
  for (const record::Part& part : data_set.source_parts()) {
    memory.window_parts.push_back(sizes_of(index, part));
  }
  memory.window_floor_bytes = grown(window_floor_bytes(memory.window_parts, plan, weights), growth);
  if (spec.echo_point == plan::EchoPoint::kSample) {
    memory.window_wish_bytes = items * kept_bytes;
  } else if (spec.echo_point == plan::EchoPoint::kAugmented) {
    memory.window_wish_bytes = items * row_bytes(row_types);
  }
  return memory;
}

}  // namespace echoline::engine
