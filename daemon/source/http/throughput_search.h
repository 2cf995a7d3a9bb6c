// How many requests under way bring a store's bytes fastest, and no more than that. A store that is
// near, or has little to spend, is faster with few: neighbours then meet in longer requests, and it
// does less for each byte. A store far away needs many. Pure arithmetic; its times are the
// caller's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::source {

// Climbs on the rate, in halves and doubles, by windows in which as much was wanted as the limit
// lets through; others tell nothing. Half as many are kept if they bring as much, but for kKeeps;
// twice as many if they bring more, by kGains: between equals the fewer win. The first try is a
// bolder one, as what has just begun knows least. What was kept is tried further the same way at
// once; what was not is gone back on, and the other way is tried after a rest, which doubles each
// time. Not thread safe.
class ThroughputSearch {
 public:
  static constexpr std::uint64_t kWindowNs = 250'000'000;  // and two answers for each request
  static constexpr std::size_t kLeast = 4;
  static constexpr std::size_t kFirstStep = 8, kStep = 2;
  static constexpr std::uint32_t kRestMax = 64;  // windows
  static constexpr double kKeeps = 0.95;
  static constexpr double kGains = 1.1;
  // A rate that falls below this share of the last one has other reasons; many are tried first.
  static constexpr double kFallen = 0.7;

  // Begins at the cap; what a higher one adds is room at once.
  void set_cap(std::size_t cap);
  std::size_t limit() const { return limit_; }

  // A request brought so many bytes, and was one of `in_flight`. `wanted`: that was about as many
  // as may be.
  void ended(std::uint64_t bytes, std::size_t in_flight, bool wanted, std::uint64_t now_ns);
  // Something else than the number of requests decides the rate now, as refusals.
  void disturbed();

 private:
  struct Window {
    std::uint64_t begin_ns = 0;  // 0: has not begun
    std::uint64_t bytes = 0;
    std::size_t ends = 0;
    std::size_t wanted = 0;  // of the ends
    std::size_t most = 0;    // requests under way
  };
  void close(double rate, std::size_t most);
  void judge(double rate);
  void try_on(std::size_t most);
  void set_limit(std::size_t limit);
  void go_back();

  std::size_t cap_ = 0;
  std::size_t limit_ = 0;
  std::size_t before_ = 0;  // the limit that a trial is compared with; 0: no trial
  std::size_t step_ = kFirstStep;
  bool downwards_ = true;
  double rate_ = 0;  // bytes/ns, before the trial
  std::uint32_t rest_ = 0;
  std::uint32_t next_rest_ = 1;
  std::size_t settling_ = 0;  // ends of requests that began under another limit
  Window window_;
};

}  // namespace echoline::source
