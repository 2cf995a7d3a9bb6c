#include "engine/stream/auto_factor.h"

#include <algorithm>
#include <cmath>

namespace echoline::engine {
namespace {

// Factors are multiples of this, in thousandths.
constexpr double kStep = 50;
// While a store becomes slower or faster, R is about to change more.
constexpr double kErrorMost = 0.25;
// Some reasons of a refusal last seconds, such as trainers that move to another pass; others last
// until the end of the epoch.
constexpr std::uint64_t kPauseLeastNs = 5'000'000'000;
constexpr std::uint64_t kPauseMostNs = 320'000'000'000;

}  // namespace

std::optional<std::uint32_t> AutoFactor::look(std::uint64_t now_ns, const Seen& seen) {
  if (seen.ratio == 0) return std::nullopt;
  const double rounded = std::round(1000 * std::min(seen.ratio, 1e6) / kStep) * kStep;
  const auto wanted =
      static_cast<std::uint32_t>(std::clamp(rounded, 1000.0, static_cast<double>(factor_max_)));
  const double difference = std::abs(static_cast<double>(wanted) / seen.factor - 1);
  if (difference <= std::max(kTolerance, kErrors * seen.error) && seen.is_everywhere) {
    pause_ns_ = 0;
    return std::nullopt;
  }
  if (now_ns < not_before_ns_ || seen.error > kErrorMost) return std::nullopt;
  not_before_ns_ = now_ns + kDwellNs;
  return wanted;
}

void AutoFactor::note_refused(std::uint64_t now_ns) {
  pause_ns_ = std::clamp(2 * pause_ns_, kPauseLeastNs, kPauseMostNs);
  not_before_ns_ = now_ns + pause_ns_;
}

}  // namespace echoline::engine
