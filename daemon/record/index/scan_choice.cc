#include "record/index/scan_choice.h"

#include <algorithm>

namespace echoline::record {
namespace {

// A measurement takes this long at least, and two windows of each request.
constexpr std::uint64_t kMeasureNs = 1'000'000'000;
constexpr std::size_t kWindowsEach = 2;
// Hops are not tried where reading ends sooner, nor for records that a window nearly covers.
constexpr double kWorthSeconds = 4;
constexpr std::uint64_t kWorthBytes = 32 << 10;

constexpr std::uint32_t kReadsUntilHops = 8;
// Hops are given up after so many slow measurements in sequence: a store may pause for a moment.
constexpr std::uint32_t kSlowMax = 2;

}  // namespace

ScanChoice::ScanChoice(double gain) : gain_(gain), reads_until_hops_(kReadsUntilHops) {}

void ScanChoice::moved(std::uint64_t bytes, ScanMode mode) {
  if (mode != mode_) return;
  bytes_ += bytes;
  ++windows_;
}

bool ScanChoice::is_due(std::uint64_t now_ns, std::size_t in_flight, std::size_t other_in_flight) {
  if (gain_ == 0 || other_in_flight > 0) return false;
  if (begin_ns_ == 0) {
    if (windows_ >= in_flight) begin(now_ns);
    return false;
  }
  return now_ns - begin_ns_ >= kMeasureNs && windows_ >= kWindowsEach * in_flight && bytes_ > 0;
}

void ScanChoice::begin(std::uint64_t now_ns) {
  begin_ns_ = now_ns;
  bytes_ = windows_ = 0;
}

bool ScanChoice::decide(std::uint64_t now_ns, const ScanOutlook& outlook) {
  rates_[static_cast<std::size_t>(mode_)] =
      static_cast<double>(bytes_) * 1e9 / static_cast<double>(now_ns - begin_ns_);
  if (mode_ == ScanMode::kRead) forget_hops_if_due();
  const ScanMode before = mode_;
  mode_ = should_hop(outlook) ? ScanMode::kHop : ScanMode::kRead;
  // After a change the next measurement begins when the windows of the old mode have landed.
  begin(mode_ == before ? now_ns : 0);
  return mode_ != before;
}

void ScanChoice::forget_hops_if_due() {
  double& hop = rates_[static_cast<std::size_t>(ScanMode::kHop)];
  if (best_hop_ * 2 < gain_ * rate(ScanMode::kRead) || ++reads_ < reads_until_hops_) return;
  hop = 0;
  reads_ = 0;
  reads_until_hops_ *= 2;
}

bool ScanChoice::should_hop(const ScanOutlook& outlook) {
  const double read = rate(ScanMode::kRead), hop = rate(ScanMode::kHop);
  if (mode_ == ScanMode::kHop) {
    best_hop_ = std::max(best_hop_ / 2, hop);
    slow_ = hop >= gain_ * read ? 0 : slow_ + 1;
    return slow_ < kSlowMax;
  }
  slow_ = 0;
  if (hop > 0) return hop >= gain_ * read;
  return outlook.mean_record_bytes >= kWorthBytes &&
         static_cast<double>(outlook.bytes_left) >= kWorthSeconds * read;
}

}  // namespace echoline::record
