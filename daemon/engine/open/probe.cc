#include "engine/open/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "augment/hang_watch.h"
#include "augment/row_shapes.h"
#include "batch/sample_cache.h"
#include "record/core/record_check.h"

namespace echoline::engine {
namespace {

// Bounds the reads at start where records are large or all bad.
constexpr std::uint64_t kProbesMax = 8;
constexpr std::uint64_t kSizeProbes = 16;

// The mean size of what is made of a record, estimated from one of them: records of one kind grow
// by the same factor when they are decoded.
std::uint64_t mean_made_bytes(const record::Index& index, std::uint64_t encoded,
                              std::uint64_t made) {
  const double growth =
      // Estimated from one record; the window's wish may be wrong by it, its floor is not.
      static_cast<double>(made) / static_cast<double>(std::max<std::uint64_t>(1, encoded));
  return static_cast<std::uint64_t>(growth * index.record_bytes_mean());
}

// Makes the prepared sample of a record, `scratch.sample`, which may borrow its `bytes`.
Status probe_record(const OpenedData& data, const batch::Preparer& preparer, std::uint64_t record,
                    std::vector<std::byte>& bytes, batch::WorkerScratch& scratch) {
  const record::Index& index = data.data_set->index();
  const source::ObjectInfo object = index.shard(index.extent(record).shard).object;
  ECHOLINE_ASSIGN(bytes, record::read_record(index, record, data.source_of(record)));
  return preparer.try_record(record, bytes, scratch)
      .with_context(fmt::format("sample {} (key {}) in {}", record, index.key(record), object.url));
}

// The first records of an epoch; of a mixture, those of each source.
std::vector<std::vector<std::uint64_t>> records_to_try(const record::DataSet& data_set,
                                                       const plan::Plan& plan) {
  const std::vector<record::Part> parts = data_set.source_parts();
  std::vector<std::vector<std::uint64_t>> all(parts.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const bool alone = parts.size() == 1;
    const std::uint64_t count = alone ? plan.record_count() : parts[part].records;
    for (std::uint64_t i = 0; i < std::min(count, kProbesMax); ++i) {
      // An order of the user can leave records out.
      all[part].push_back(alone ? plan.record_at(0, i) : parts[part].first_record + i);
    }
  }
  return all;
}

// Looks at these records until one is good and no more are needed, or users' code hangs.
Status probe_part(const OpenedData& data, const batch::Preparer& preparer,
                  const std::vector<std::uint64_t>& records, bool makes_batches,
                  batch::WorkerScratch& scratch, augment::RowShapes& shapes, ProbedTypes& probed) {
  const record::Index& index = data.data_set->index();
  std::vector<std::byte> encoded;
  bool found = false;
  const augment::HangWatch watch(preparer.chain());
  std::uint64_t tried = 0;
  Status last(Code::kInvalidArgument, "there are none");
  for (; tried < records.size() && !watch.hangs(); ++tried) {
    const std::uint64_t record = records[tried];
    last = probe_record(data, preparer, record, encoded, scratch);
    if (!last.ok()) continue;
    // Before the steps, which may take its buffers.
    const std::uint64_t decoded = scratch.sample.bytes();
    const auto prepared = preparer.try_steps(scratch);
    last = prepared.status();
    if (!last.ok()) continue;
    if (!found) {
      const std::uint64_t bytes = index.extent(record).bytes;
      // Of several sources, that with the largest samples.
      probed.decoded_bytes = std::max(probed.decoded_bytes, mean_made_bytes(index, bytes, decoded));
      probed.kept_bytes =
          std::max(probed.kept_bytes, mean_made_bytes(index, bytes, prepared.value().kept_bytes));
    }
    found = true;
    // An error of the shapes is not a bad record: the stream could not have one shape of rows.
    ECHOLINE_TRY(shapes.take(prepared.value().row_types));
    if (!makes_batches || shapes.settled()) break;
  }
  if (found) return {};
  return std::move(last).with_context(
      fmt::format("none of the first {} records can be prepared; the last one", tried));
}

// An upper estimate of the mean of all from a few of them: two standard errors above the mean of
// the few. Exact where all have one size.
std::uint64_t cautious_mean(const std::vector<double>& sizes) {
  const auto count = static_cast<double>(sizes.size());
  double sum = 0;
  for (const double size : sizes) sum += size;
  // Sample variance (n - 1); with one record the error is zero.
  const double mean = sum / count;
  double squares = 0;
  for (const double size : sizes) squares += (size - mean) * (size - mean);
  const double error = std::sqrt(squares / std::max(1.0, count - 1) / count);
  return static_cast<std::uint64_t>(std::ceil(mean + 2 * error));
}

}  // namespace

Result<ProbedTypes> probe_types(const OpenedData& data, const batch::Preparer& preparer,
                                const plan::Plan& plan, bool makes_batches) {
  // A scratch of its own: no worker runs for this stream yet.
  batch::WorkerScratch scratch = preparer.make_scratch();
  augment::RowShapes shapes(preparer.chain());
  ProbedTypes probed;
  const std::vector<std::vector<std::uint64_t>> records = records_to_try(*data.data_set, plan);
  for (std::size_t i = 0; i < records.size(); ++i) {
    ECHOLINE_TRY(in_source(data.names[i], probe_part(data, preparer, records[i], makes_batches,
                                                     scratch, shapes, probed)));
  }
  probed.row_types = *shapes.types();
  return probed;
}

Result<std::uint64_t> probe_kept_bytes(const OpenedData& data, const batch::Preparer& preparer) {
  const record::DataSet& data_set = *data.data_set;
  const std::uint64_t records = data_set.index().record_count();
  const std::uint64_t tried = std::min(records, kSizeProbes);
  // A record in the middle of a compressed shard costs the unpacking of all before it.
  const std::uint64_t spacing = data_set.random_access() ? records / tried : 1;
  batch::WorkerScratch scratch = preparer.make_scratch();
  std::vector<std::byte> encoded;
  std::vector<double> sizes;
  Status last;
  for (std::uint64_t i = 0; i < tried; ++i) {
    // In the middle of its section, so the first and the last record are not preferred.
    last = probe_record(data, preparer, i * spacing + spacing / 2, encoded, scratch);
    if (last.ok()) {
      sizes.push_back(static_cast<double>(batch::SampleCache::kept_bytes(scratch.sample)));
    }
  }
  if (sizes.empty()) {
    return std::move(last).with_context(fmt::format(
        "none of {} records looked at for the cache can be decoded; the last one", tried));
  }
  return cautious_mean(sizes);
}

}  // namespace echoline::engine
