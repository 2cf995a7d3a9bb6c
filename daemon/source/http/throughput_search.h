// Searches for the number of requests in flight that gives the best throughput. A store that is
// near, or has little bandwidth to spare, is faster with few requests: more adjacent records then
// share one longer request, and the store does less work per byte. A distant store needs many, and
// so do short answers, whose time is mostly latency. Pure arithmetic; the caller passes the time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "source/http/answer_kind.h"
#include "source/http/learned_limit.h"
#include "source/http/rate_curve.h"

namespace echoline::source {

// What the search is told of an answer.
struct AnswerSeen {
  std::uint64_t bytes = 0;
  std::uint64_t waited_ns = 0;  // from the request to its first byte; 0: not known
};

// Hill climbing on the rate, by halving and doubling the limit. Only windows in which the demand
// reached the limit count. A halved limit is kept if its rate is at least kKeepShare of the old
// one; a doubled limit if its rate is higher by kGainShare: of equal rates the smaller limit wins.
// Rates are noisy and too few requests cost more than too many, so a halved limit needs two
// windows. After a success the search continues in that direction at once; after a failure it
// returns to the old limit and tries the other direction after a rest, which doubles each time.
//
// A distant store gets at least so many requests that the shortest long ones keep it busy: as many
// as carry the bytes of the bandwidth-delay product (rate x latency). The last requests of an epoch
// are that short, and a trainer waits for them. Longer requests hide the latency with fewer, but
// their rate does not show what the end of an epoch costs. So that number is set without a trial,
// and fewer are not tried.
//
// The size of the answers decides where a search begins: long answers with few requests, or with
// what an earlier search has found, and a step up (down where the store is near); short ones at the
// cap, or at what a near store can need, and with a large step down. Tiny ones get the cap without
// any trial. A search begins again when the answers become short or long. Not thread-safe.
class ThroughputSearch {
 public:
  static constexpr std::uint64_t kWindowNs = 250'000'000;  // at least, and two answers per request
  static constexpr std::size_t kLimitMin = 4;
  static constexpr std::size_t kStart = 16;  // for long answers
  static constexpr std::size_t kFirstStep = 8, kStep = 2;
  // Of the shortest of the long answers (RequestCoalescer::kRequestBytes).
  static constexpr double kShortestBytes = 1 << 20;
  static constexpr std::uint64_t kRatedMin = 4096;  // smaller answers are look-ups: ignored
  // Smaller answers take the time of the latency only, so fewer requests are never faster.
  static constexpr double kTinyBytes = 32 << 10;
  static constexpr std::uint32_t kRestMax = 64;  // windows
  static constexpr double kKeepShare = 0.95, kGainShare = 1.1;
  // A rate below this share of the last one has other causes, so the search tries a larger limit
  // first.
  static constexpr double kFallenShare = 0.7;

  // `learned`: what an earlier search for long answers has found.
  explicit ThroughputSearch(const LearnedLimit& learned = {})
      : start_(learned.limit != 0 ? learned.limit : kStart),
        long_rate_(1e-9 * static_cast<double>(learned.bytes_per_second)) {}

  // A higher cap is usable at once by short answers; long ones reach it step by step.
  void set_cap(std::size_t cap);
  std::size_t limit() const { return limit_; }
  // The limit that gave long answers their best rate, and the rate there; nothing if none was
  // measured in this search.
  LearnedLimit learned() const;
  // The rates of the windows that count. They outlast a search: the next one adds to them. Tiny
  // answers have none.
  const RateCurve& rates(bool short_answers) const { return rates_[short_answers ? 1 : 0]; }
  bool has_short_answers() const { return kind_.is_short(); }
  // Bytes/s of the last long answers, or what an earlier search has found; 0: not known.
  double usual_rate() const { return 1e9 * long_rate_; }

  // A request has ended; it was one of `in_flight`. `wanted`: the demand was close to the limit.
  void ended(const AnswerSeen& answer, std::size_t in_flight, bool wanted, std::uint64_t now_ns);
  // Something other than the number of requests now decides the rate, for example refusals.
  void note_disturbance();

 private:
  struct Window {
    std::uint64_t begin_ns = 0;  // 0: not begun
    std::uint64_t bytes = 0;
    std::size_t ends = 0;
    std::size_t wanted = 0;     // of the ends
    std::size_t most = 0;       // requests in flight
    std::size_t in_flight = 0;  // at each end, summed
  };
  // The cap, without a trial.
  void use_all();
  // Where a search for short answers begins: with so many requests as bring twice the rate of long
  // answers, but not with fewer than those.
  std::size_t short_start() const;
  // Begins a search: forgets the trial and the rest.
  void begin_at(std::size_t limit);
  // What a distant store with this rate needs at least; kLimitMin for a near one.
  std::size_t fewest(double rate) const;
  // Adds a complete window to the rates.
  void note_rate(const Window& window, double rate, std::uint64_t now_ns);
  // Takes the rate of a complete window.
  void close(double rate, std::size_t most);
  // Ends a trial: keeps the new limit or goes back.
  void judge(double rate);
  void try_limit(std::size_t most);
  void set_limit(std::size_t limit);
  void go_back();

  const std::size_t start_;
  double long_rate_;        // bytes/ns of the last long answers; 0: not known
  double short_bytes_ = 0;  // of the answer with which the short ones began
  std::size_t cap_ = 0;
  std::size_t limit_ = 0;
  std::size_t before_ = 0;  // the limit that a trial is compared with; 0: no trial
  std::size_t step_ = kStep;
  bool downwards_ = false;
  AnswerKind kind_;
  // The least time from a request to the first byte of its answer, ever seen: later ones contain
  // the queue that the requests make themselves. 0: none yet.
  std::uint64_t latency_ns_ = 0;
  double rate_ = 0;        // bytes/ns at the limit before the trial: a moving mean
  double first_rate_ = 0;  // of a trial's first window; 0: not measured yet
  std::uint32_t rest_ = 0;
  std::uint32_t next_rest_ = 1;
  std::size_t settling_ = 0;  // requests to ignore: they began under another limit
  Window window_;
  RateCurve rates_[2];  // of long answers, and of short ones
};

}  // namespace echoline::source
