// Decides when the echo factor of a stream with `factor: auto` changes, and to what: it follows
// clamp(R, 1, max), as Choi et al. (arXiv 1907.05550, section 3.1) propose for a measured R. Until
// R is known the factor is `max`: a repeated row is worth something, and a wait is worth nothing.
// For the same reason it rises at once, and falls only when R was lower for a while.
#pragma once

#include <cstdint>
#include <optional>

namespace echoline::engine {

// Not thread safe. Pure: the time comes with each call.
class AutoFactor {
 public:
  // Of the same order as a measurement takes. Each change is kept in every state of its epoch.
  static constexpr std::uint64_t kDwellNs = 4'000'000'000;
  // A trainer or a store whose speed varies has an R that varies. The factor falls when R was lower
  // for so long, to the highest R of the second half of this time. If it may not fall then, it
  // falls to the highest R of a later half.
  static constexpr std::uint64_t kLowerNs = 4'000'000'000;
  // Smaller differences are no reason for a change, and neither are those within `kErrors` standard
  // errors of R.
  static constexpr double kTolerance = 0.05;
  static constexpr double kErrors = 4;

  explicit AutoFactor(std::uint32_t factor_max) : factor_max_(factor_max) {}

  struct Seen {
    std::uint32_t factor = 1000;  // at present, in thousandths
    bool is_everywhere = true;    // no pass has another one
    double ratio = 0;             // R; 0: unknown
    double error = 1;             // of R: its relative standard error
  };
  // The factor to change to, in thousandths. At every tick.
  std::optional<std::uint32_t> look(std::uint64_t now_ns, const Seen& seen);
  // A change was not possible: it is not asked for again for a while, and longer each time.
  void note_refused(std::uint64_t now_ns);

 private:
  // What a wanted factor below the present one leads to: nothing, before R was lower long enough.
  std::optional<std::uint32_t> lowered(std::uint64_t now_ns, std::uint32_t wanted, bool may_change);

  const std::uint32_t factor_max_;
  std::uint64_t looked_ns_ = 0;
  std::uint64_t lower_since_ns_ = 0;  // 0: R is not lower
  std::uint32_t highest_ = 0;         // wanted factor of the second half of kLowerNs
  std::uint64_t not_before_ns_ = 0;
  std::uint64_t pause_ns_ = 0;  // after the last refusal
};

}  // namespace echoline::engine
