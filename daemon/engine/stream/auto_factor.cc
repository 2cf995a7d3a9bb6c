#include "engine/stream/auto_factor.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
  // Nobody looked for so long, or nothing is known: R may have been anything.
  if (seen.ratio == 0 || now_ns > looked_ns_ + kLowerNs) lower_since_ns_ = 0;
  looked_ns_ = now_ns;
  if (seen.ratio == 0) return std::nullopt;
  const double rounded = std::round(1000 * std::min(seen.ratio, 1e6) / kStep) * kStep;
  const auto wanted =
      static_cast<std::uint32_t>(std::clamp(rounded, 1000.0, static_cast<double>(factor_max_)));
  const double difference = std::abs(static_cast<double>(wanted) / seen.factor - 1);
  const bool differs = difference > std::max(kTolerance, kErrors * seen.error);
  const bool is_lower = differs && wanted < seen.factor;
  if (!is_lower) lower_since_ns_ = 0;
  if (!differs && seen.is_everywhere) {
    pause_ns_ = 0;
    return std::nullopt;
  }
  const bool may_change = now_ns >= not_before_ns_ && seen.error <= kErrorMost;
  std::optional<std::uint32_t> next;
  if (is_lower) {
    next = lowered(now_ns, wanted, may_change);
  } else if (may_change) {
    // Passes with another factor get the present one.
    next = differs ? wanted : seen.factor;
  }
  if (next.has_value()) not_before_ns_ = now_ns + kDwellNs;
  return next;
}

std::optional<std::uint32_t> AutoFactor::lowered(std::uint64_t now_ns, std::uint32_t wanted,
                                                 bool may_change) {
  if (lower_since_ns_ == 0) {
    lower_since_ns_ = now_ns;
    highest_ = 0;
  }
  const std::uint64_t lower_ns = now_ns - lower_since_ns_;
  if (lower_ns >= kLowerNs / 2) highest_ = std::max(highest_, wanted);
  if (lower_ns < kLowerNs) return std::nullopt;
  const std::uint32_t found = std::exchange(highest_, wanted);
  // Either way a second half begins: a later change follows what R is then.
  lower_since_ns_ = now_ns - kLowerNs / 2;
  if (!may_change) return std::nullopt;
  return found;
}

void AutoFactor::note_refused(std::uint64_t now_ns) {
  pause_ns_ = std::clamp(2 * pause_ns_, kPauseLeastNs, kPauseMostNs);
  not_before_ns_ = now_ns + pause_ns_;
}

}  // namespace echoline::engine
