#include "engine/walk/read_ahead.h"

#include <algorithm>
#include <cmath>

namespace echoline::engine {
namespace {

// In units of the longest delay: the bytes in flight (one delay) and a margin for slower answers.
constexpr double kDelays = 4;
// The rate is the mean of a second: shorter bursts of workers say nothing about the use of bytes.
constexpr std::uint64_t kSecondNs = 1'000'000'000;
// Old maxima lose half of their weight in this time, so the target follows a slower source or job.
constexpr double kHalfLifeNs = 30e9;
// A wait that goes on doubles the target again after so long: sooner, what was ordered for the last
// doubling cannot have come.
constexpr std::uint64_t kGrowEveryNs = 50'000'000;

}  // namespace

ReadAhead::ReadAhead(Options options)
    : options_(options), boost_bytes_(static_cast<double>(options.first_bytes)) {
  aim();
}

void ReadAhead::see(const Sight& sight) {
  fade(sight.now_ns);
  measure_rate(sight);
  delay_ns_ = std::max(delay_ns_, static_cast<double>(sight.delay_ns));
  if (sight.waited && sight.now_ns - grown_ns_ >= kGrowEveryNs) {
    // From the target, not from the need: each wait at least doubles what is ahead.
    boost_bytes_ = std::max(boost_bytes_, 2 * static_cast<double>(target_bytes_));
    grown_ns_ = sight.now_ns;
  }
  aim();
}

void ReadAhead::aim() {
  const double needed =
      rate_ * std::max(kDelays * delay_ns_, static_cast<double>(options_.cover_ns));
  const auto most = static_cast<double>(options_.most_bytes);
  const auto least = std::min(most, static_cast<double>(options_.least_bytes));
  boost_bytes_ = std::min(boost_bytes_, most);
  target_bytes_ =
      static_cast<std::uint64_t>(std::clamp(std::max(needed, boost_bytes_), least, most));
}

void ReadAhead::fade(std::uint64_t now_ns) {
  // The first call only sets the clock.
  if (faded_ns_ == 0) faded_ns_ = now_ns;
  const double left = std::exp2(-static_cast<double>(now_ns - faded_ns_) / kHalfLifeNs);
  faded_ns_ = now_ns;
  rate_ *= left;
  // The boost fades, too: after waits the target comes back to what is measured.
  delay_ns_ *= left;
  boost_bytes_ *= left;
}

void ReadAhead::measure_rate(const Sight& sight) {
  if (second_began_ns_ == 0) second_began_ns_ = sight.now_ns;
  const std::uint64_t passed_ns = sight.now_ns - second_began_ns_;
  if (passed_ns < kSecondNs) return;
  const auto used = static_cast<double>(sight.used_bytes - used_then_);
  rate_ = std::max(rate_, used / static_cast<double>(passed_ns));
  second_began_ns_ = sight.now_ns;
  used_then_ = sight.used_bytes;
}

}  // namespace echoline::engine
