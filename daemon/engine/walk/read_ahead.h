// How many bytes a pass aims to have ahead: what its use takes while the source answers, and no
// more. The product of bandwidth and delay, both as they are measured.
#pragma once

#include <cstdint>

namespace echoline::engine {

// The target is rate * max(4 * delay, cover), within [least, most]:
// * rate: the most bytes that were used in a second; older maxima count half for each half-life;
// * delay: the longest time from a request to its arrival, with the same half-life. It contains the
//   queue that the read-ahead itself makes, so it grows, and the target with it, when the source
//   comes to its limit.
// Whenever a trainer waits for bytes, the target doubles, and then falls slowly.
//
// Not thread safe. Times are of one monotonic clock.
class ReadAhead {
 public:
  struct Options {
    std::uint64_t least_bytes = 0;
    std::uint64_t most_bytes = 0;
    std::uint64_t cover_ns = 0;     // of use, however fast the source answers
    std::uint64_t first_bytes = 0;  // the target before anything is measured; it fades, too
  };
  explicit ReadAhead(Options options);

  // What was seen since the last call.
  struct Sight {
    std::uint64_t now_ns = 0;
    std::uint64_t used_bytes = 0;  // for the first time, ever
    std::uint64_t delay_ns = 0;    // the longest of what arrived; 0: nothing did
    bool waited = false;           // a trainer, for bytes
  };
  // Cheap. To be called several times a second.
  void see(const Sight& sight);

  std::uint64_t target_bytes() const { return target_bytes_; }

 private:
  // Computes the target from rate, delay and boost.
  void aim();
  // Halves what was measured for each half-life that passed.
  void fade(std::uint64_t now_ns);
  // Updates the rate once a second.
  void measure_rate(const Sight& sight);

  const Options options_;
  double rate_ = 0;  // bytes per nanosecond
  double delay_ns_ = 0;
  double boost_bytes_;  // at first, and after waits
  std::uint64_t faded_ns_ = 0;
  std::uint64_t second_began_ns_ = 0;
  std::uint64_t used_then_ = 0;
  std::uint64_t grown_ns_ = 0;
  std::uint64_t target_bytes_ = 0;
};

}  // namespace echoline::engine
