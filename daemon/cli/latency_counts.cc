// Bucket i counts durations around 2^(i / 64) ns.
#include "cli/latency_counts.h"

#include <algorithm>
#include <cmath>

namespace echoline::cli {
namespace {

constexpr double kStepsPerOctave = 64;
constexpr std::size_t kBucketCount = 64 * 64;

}  // namespace

LatencyCounts::LatencyCounts() : counts_(kBucketCount) {}

void LatencyCounts::add(std::uint64_t ns) {
  const double octaves = std::log2(static_cast<double>(std::max<std::uint64_t>(ns, 1)));
  const auto bucket = static_cast<std::size_t>(octaves * kStepsPerOctave + 0.5);
  ++counts_[std::min(bucket, kBucketCount - 1)];
  ++total_;
}

double LatencyCounts::quantile_ns(double share) const {
  if (total_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBucketCount; ++bucket) {
    seen += counts_[bucket];
    if (seen >= std::max<std::uint64_t>(wanted, 1)) {
      return std::exp2(static_cast<double>(bucket) / kStepsPerOctave);
    }
  }
  return 0;
}

}  // namespace echoline::cli
