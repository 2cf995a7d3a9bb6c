// Results are released in the order in which the simulated link would deliver them, not in the
// order of the inner source.
#include "source/open/throttle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/clock.h"
#include "echoline/shm/philox.h"
#include "echoline/v1/config.pb.h"

namespace echoline::source {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// Fixed, so that the same requests get the same delays in every run.
constexpr std::uint64_t kDelaySeed = 0x5EED'DE1A'7000'0001;
// A log-normal delay has no upper bound.
constexpr std::uint64_t kLatencyMaxNs = 600 * kSecondNs;
constexpr double kNormalP99 = 2.3263478740408408;  // 99 % of a normal variable lie below this

// Uniform in (0, 1).
double open_unit(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

// One draw of a normal variable (Box and Muller).
double normal(std::uint32_t draw) {
  const PhiloxCounter words = philox4x32(philox_key(kDelaySeed), {draw, 0, 0, 0});
  return std::sqrt(-2 * std::log(open_unit(words[0]))) *
         std::cos(2 * std::numbers::pi * open_unit(words[1]));
}

}  // namespace

std::uint64_t SimulatedLink::next_latency_ns() {
  if (options_.latency_p99_ns == 0) return options_.latency_ns;
  // Log-normal with the given median and 99th percentile.
  const double sigma = std::log(static_cast<double>(options_.latency_p99_ns) /
                                static_cast<double>(options_.latency_ns)) /
                       kNormalP99;
  const double delay =
      static_cast<double>(options_.latency_ns) * std::exp(sigma * normal(draws_++));
  return static_cast<std::uint64_t>(std::min(delay, static_cast<double>(kLatencyMaxNs)));
}

std::uint64_t SimulatedLink::arrival_ns(std::uint64_t now_ns, std::uint64_t bytes) {
  // A delayed request does not block the link: the bytes of others arrive meanwhile. On the shared
  // link the bytes begin after the median delay. The request's own delay is drawn separately, and
  // the later of both decides.
  const std::uint64_t shared_ns =
      options_.rate == 0 ? 0 : carried_ns(now_ns + options_.latency_ns, bytes);
  latency_ns_ = next_latency_ns();
  std::uint64_t own_ns = now_ns + latency_ns_;
  if (options_.connection_rate > 0)
    own_ns += static_cast<std::uint64_t>(static_cast<double>(bytes) /
                                         static_cast<double>(options_.connection_rate) * 1e9);
  // The request is complete when both the link and its own connection have delivered it.
  return std::max(shared_ns, own_ns);
}

std::uint64_t SimulatedLink::carried_ns(std::uint64_t first_byte_ns, std::uint64_t bytes) {
  const std::uint64_t rate = options_.rate;
  // The link was idle: it starts again, without a remainder.
  if (first_byte_ns > free_ns_) {
    free_ns_ = first_byte_ns;
    remainder_ = 0;
  }
  // Whole seconds first, so that the product below stays small.
  free_ns_ += bytes / rate * kSecondNs;
  // bytes % rate * 1e9 fits 64 bits up to 18 GB/s; above that the precision may be lower.
  const std::uint64_t unit = rate > UINT64_MAX / kSecondNs / 2 ? 1'000 : 1;
  const std::uint64_t part = bytes % rate / unit * kSecondNs + remainder_;
  free_ns_ += part / (rate / unit);
  remainder_ = part % (rate / unit);
  return free_ns_;
}

Throttle::Throttle(std::unique_ptr<Source> inner, LinkOptions options)
    // The slots of the moment: a source that is new has all of them free.
    : ForwardingSource(std::move(inner)), slots_(inner_->slots_free()), link_(options) {}

Result<std::unique_ptr<Source>> Throttle::over(std::unique_ptr<Source> inner,
                                               const v1::Throttle& throttle) {
  const LinkOptions options{throttle.rate(), throttle.latency(), throttle.latency_p99(),
                            throttle.connection_rate()};
  if (options.latency_p99_ns != 0 &&
      (options.latency_ns == 0 || options.latency_p99_ns < options.latency_ns))
    return Status(Code::kInvalidArgument,
                  "read.throttle.latency_p99 needs a `latency`, the median, that is not above it");
  const bool is_nothing =
      options.rate == 0 && options.latency_ns == 0 && options.connection_rate == 0;
  if (is_nothing) return inner;
  return std::unique_ptr<Source>(std::make_unique<Throttle>(std::move(inner), options));
}

void Throttle::submit(ReadRequest request) {
  ECHOLINE_CHECK(pending_.size() + held_.size() < slots_);
  std::uint64_t bytes = 0;
  if (!request.segments.empty()) {
    const Segment& last = request.segments.back();
    // From the first to the last byte: gaps are transferred, too.
    bytes = last.offset + last.destination.size() - request.segments.front().offset;
  }
  const std::uint64_t id = next_id_++;
  const std::uint64_t now = monotonic_ns();
  // The own id replaces the caller's tag, which comes back with the result.
  const std::uint64_t due_ns = link_.arrival_ns(now, bytes);
  pending_[id] = {request.tag, now, link_.latency_ns(), due_ns};
  request.tag = id;
  inner_->submit(std::move(request));
}

std::size_t Throttle::slots_free() const {
  const std::size_t free = slots_ - std::min(slots_, pending_.size() + held_.size());
  // A held result keeps its slot, so both numbers bound what may be submitted.
  return std::min(free, inner_->slots_free());
}

void Throttle::poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) {
  const std::size_t before = done.size();
  bool woken = false;
  do {
    inner_done_.clear();
    // Also ends when a held result becomes due.
    inner_->poll(std::min(deadline_ns, next_due_ns()), inner_done_);
    const std::uint64_t now = monotonic_ns();
    hold(inner_done_, now);
    release(now, done);
    woken = woken_.exchange(false);
  } while (done.size() == before && !woken && monotonic_ns() < deadline_ns);
}

void Throttle::hold(std::vector<ReadResult>& results, std::uint64_t now_ns) {
  for (ReadResult& result : results) {
    const Pending pending = pending_.extract(result.tag).mapped();
    if (pending.due_ns > now_ns) imitated_.add_wait(WaitReason::kImitated, pending.due_ns - now_ns);
    held_.push_back(
        {pending,
         {pending.tag, std::move(result.status), result.checked, std::move(result.checksums)}});
  }
  // Results of the inner source come in another order than the simulated link delivers them.
  std::sort(held_.begin(), held_.end(),
            [](const Held& a, const Held& b) { return a.request.due_ns < b.request.due_ns; });
}

void Throttle::release(std::uint64_t now_ns, std::vector<ReadResult>& done) {
  const auto due = std::find_if(held_.begin(), held_.end(), [now_ns](const Held& held) {
    return held.request.due_ns > now_ns;
  });
  for (auto at = held_.begin(); at != due; ++at) {
    if (at->result.status.ok())
      imitated_.add_latency(now_ns - at->request.begin_ns, at->request.latency_ns);
    done.push_back(std::move(at->result));
  }
  held_.erase(held_.begin(), due);
  // Held results are in flight for the caller.
  imitated_.in_flight = held_.size();
}

std::uint64_t Throttle::next_due_ns() const {
  return held_.empty() ? UINT64_MAX : held_.front().request.due_ns;
}

void Throttle::wake() {
  woken_ = true;
  inner_->wake();
}

Counters Throttle::counters() const {
  Counters counters = inner_->counters();
  const Counters imitated = imitated_.snapshot();
  constexpr auto kImitated = static_cast<std::size_t>(WaitReason::kImitated);
  counters.in_flight += imitated.in_flight;
  counters.wait_ns[kImitated] = imitated.wait_ns[kImitated];
  counters.latencies = imitated.latencies;
  counters.answer_ns = imitated.answer_ns;
  counters.least_answer_ns = imitated.least_answer_ns;
  return counters;
}

}  // namespace echoline::source
