// Chooses how the shards of a store are scanned: read through, or by hops from header to header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace echoline::record {

enum class ScanMode : std::uint8_t {
  kRead,  // large windows, so that records get their checksums on the way
  kHop,   // a small window at each header
};

// What an index pass knows when a choice is due.
struct ScanOutlook {
  std::uint64_t bytes_left = 0;         // of all shards
  std::uint64_t mean_record_bytes = 0;  // 0: hops are not possible
};

// Measures both ways one after the other, by how fast scans move on, skipped bytes included: the
// measurement includes latency, rate, the limits of the store, and how many shards there are to hop
// in. Reading comes first. Plain logic, without a clock of its own; one thread.
class ScanChoice {
 public:
  // Hops are chosen where they are at least `gain` times as fast. 0: never.
  explicit ScanChoice(double gain);

  ScanMode mode() const { return mode_; }
  // Bytes per second; 0: not measured yet.
  double rate(ScanMode mode) const { return rates_[static_cast<std::size_t>(mode)]; }
  // A window of this mode moved a scan on.
  void moved(std::uint64_t bytes, ScanMode mode);
  // Whether decide() can be called: the present mode has been measured. `other_in_flight`: windows
  // of the other mode, which would disturb.
  bool is_due(std::uint64_t now_ns, std::size_t in_flight, std::size_t other_in_flight);
  // Returns whether the mode has changed.
  bool decide(std::uint64_t now_ns, const ScanOutlook& outlook);

 private:
  void begin(std::uint64_t now_ns);
  void forget_hops_if_due();
  bool should_hop(const ScanOutlook& outlook);

  const double gain_;
  ScanMode mode_ = ScanMode::kRead;
  std::array<double, 2> rates_{};  // by ScanMode
  // Measurements of reading since the last one of hops, and after how many hops are tried again
  // where they were not much too slow: one measurement can be disturbed.
  std::uint32_t reads_ = 0;
  std::uint32_t reads_until_hops_;
  double best_hop_ = 0;     // the highest rate of hops; an older one counts less
  std::uint32_t slow_ = 0;  // measurements of hops in sequence that were too slow
  // The present measurement. It begins when each request has landed a window in the present mode:
  // the first ones also wait for connections.
  std::uint64_t begin_ns_ = 0;  // 0: it has not begun
  std::uint64_t bytes_ = 0;
  std::size_t windows_ = 0;
};

}  // namespace echoline::record
