// What the refusal of a key by a store means: a wrong key, a key that was replaced, or one object
// that the store cannot serve.
#pragma once

#include <algorithm>
#include <cstdint>

namespace echoline::source {

// Time in nanoseconds is an argument. A key that the store has never accepted is probably wrong: it
// is read again once. A key that was accepted is probably being replaced, and its owner may write
// the new one some seconds later: it is read again with growing pauses, and requests are retried.
class KeyRefusals {
 public:
  struct Answer {
    bool read_again = false;
    bool retry = false;
    // The store accepts the same key for others, so it is this request that it refuses.
    bool is_only_this = false;
    bool is_first = false;  // of a key that was accepted; for the log
  };

  Answer refuse(std::uint64_t now_ns) {
    if (refused_ns_ == 0 || now_ns > refused_ns_ + kEpisodeNs) begin_episode(now_ns);
    refused_ns_ = now_ns;
    Answer answer;
    answer.retry = was_accepted_ || reads_ == 0;
    answer.is_only_this = was_accepted_ && accepted_ns_ > episode_ns_ + kSettleNs;
    answer.read_again = answer.retry && !answer.is_only_this && now_ns >= next_read_ns_;
    if (!answer.read_again) return answer;
    answer.is_first = was_accepted_ && reads_ == 0;
    next_read_ns_ = now_ns + std::min(kPauseMaxNs, kPauseNs << std::min(reads_, 16U));
    ++reads_;
    return answer;
  }

  // Whether the trouble of a key that was accepted before is over; for the log.
  bool accept(std::uint64_t now_ns) {
    accepted_ns_ = now_ns;
    const bool is_over = was_accepted_ && reads_ > 0 && now_ns > refused_ns_ + kQuietNs;
    was_accepted_ = true;
    if (is_over) begin_episode(now_ns);
    return is_over;
  }

 private:
  static constexpr std::uint64_t kSecondNs = 1'000'000'000;
  static constexpr std::uint64_t kPauseNs = kSecondNs;  // doubled after each reading
  static constexpr std::uint64_t kPauseMaxNs = 8 * kSecondNs;
  // Refusals further apart have different causes.
  static constexpr std::uint64_t kEpisodeNs = 60 * kSecondNs;
  static constexpr std::uint64_t kQuietNs = 10 * kSecondNs;  // longer than pauses between retries
  // Answers to requests that were signed before a key was replaced may come this much later.
  static constexpr std::uint64_t kSettleNs = 3 * kSecondNs;

  void begin_episode(std::uint64_t now_ns) {
    episode_ns_ = now_ns;
    reads_ = 0;
    next_read_ns_ = 0;
  }

  bool was_accepted_ = false;
  std::uint64_t accepted_ns_ = 0;
  std::uint64_t episode_ns_ = 0;
  std::uint64_t refused_ns_ = 0;
  std::uint64_t next_read_ns_ = 0;
  std::uint32_t reads_ = 0;  // in this episode
};

}  // namespace echoline::source
