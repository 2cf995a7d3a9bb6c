// Whether the answers of an endpoint are short or long. Pure arithmetic; the caller passes the
// time.
#pragma once

#include <cstdint>

namespace echoline::source {

// Not thread-safe.
class AnswerKind {
 public:
  // Answers count as short below the first size, and as long again above the second.
  static constexpr double kShortBytes = 256 << 10, kLongBytes = 512 << 10;
  // A kind lasts so long at least after the second change in a row, twice as long after each
  // further one, up to kRestMaxNs.
  static constexpr std::uint64_t kRestNs = 250'000'000;
  static constexpr std::uint32_t kChangesMax = 10;
  static constexpr std::uint64_t kRestMaxNs = kRestNs << (kChangesMax - 2);

  // Takes the size of the next answer; true if the kind has changed.
  bool note(std::uint64_t bytes, std::uint64_t now_ns);
  bool is_short() const { return is_short_; }
  double mean_bytes() const { return mean_bytes_; }  // of the last answers

 private:
  double mean_bytes_ = 1 << 20;  // at first a guess
  bool is_short_ = false;
  std::uint32_t changes_ = 0;  // in a row, each soon after the one before
  std::uint64_t since_ns_ = 0;
};

}  // namespace echoline::source
