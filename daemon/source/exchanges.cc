// The rule of time: an exchange is given up when `timeout_ns` has passed without progress, however
// many attempts that took; a single attempt that hears nothing for a quarter of it is tried anew.
#include "source/exchanges.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "source/backoff.h"

namespace echoline::source {
namespace {

constexpr std::size_t kErrorBodyBytesMax = 64 << 10;
constexpr std::uint64_t kProgressBytes =
    64 << 10;  // less than this in a time-out is a drip, not progress
constexpr std::uint64_t kRetryAfterMaxNs = 30'000'000'000;
constexpr std::uint64_t kReadyCheckNs = 5'000'000;

HttpOptions http_options(const ExchangeLimits& limits) {
  return {limits.connections_max, std::max<std::uint64_t>(limits.timeout_ns / 4, 1),
          limits.ca_file};
}

// What a store says about when to come back; 0 if nothing.
std::uint64_t retry_after_ns(const HttpResponse& response) {
  const std::string_view text = response.header("retry-after");
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return 0;
  return std::min(seconds, kRetryAfterMaxNs / 1'000'000'000) * 1'000'000'000;
}

Verdict transport_verdict(const HttpResult& result) {
  switch (result.end) {
    case HttpEnd::kUntrusted:
      return {
          Status(Code::kPermissionDenied,
                 fmt::format("the server can't be trusted: {}; name its certificate authority's "
                             "file in `ca_file`, AWS_CA_BUNDLE or SSL_CERT_FILE",
                             result.error))};
    case HttpEnd::kUnreachable:
      return {Status(Code::kUnavailable,
                     fmt::format("the server can't be reached: {}; check the endpoint, the network "
                                 "and the proxy settings",
                                 result.error)),
              true};
    case HttpEnd::kStalled:
      return {Status(Code::kDeadlineExceeded, fmt::format("the server stalled: {}", result.error)),
              true};
    default:
      return {Status(Code::kUnavailable, fmt::format("the transfer broke: {}", result.error)),
              true};
  }
}

Status too_slow(std::uint64_t timeout_ns) {
  return Status(Code::kDeadlineExceeded,
                fmt::format("less than {} bytes came in {:.1f} s", kProgressBytes,
                            static_cast<double>(timeout_ns) / 1e9));
}

Status given_up(const Status& reason, std::uint32_t attempts) {
  return Status(reason.code(),
                fmt::format("{}; given up after attempt {}", reason.message(), attempts));
}

}  // namespace

// One exchange and its current attempt.
class Exchanges::Running : public HttpSink {
 public:
  Running(std::uint64_t id, std::unique_ptr<Exchange> exchange, SharedCounters& counters)
      : id_(id),
        exchange_(std::move(exchange)),
        counters_(counters),
        progress_ns_(monotonic_ns()) {}

  bool on_response(const HttpResponse& response) override {
    response_ = response;
    if (!is_success()) return true;
    accepted_ = exchange_->accept(response);
    return accepted_.status.ok();
  }

  bool on_body(std::span<const std::byte> bytes) override {
    counters_.bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
    if (is_success()) {
      const bool more = exchange_->consume(bytes);
      note_progress();
      return more;
    }
    const std::size_t room = kErrorBodyBytesMax - error_body_.size();
    error_body_.append(reinterpret_cast<const char*>(bytes.data()), std::min(room, bytes.size()));
    return error_body_.size() < kErrorBodyBytesMax;
  }

  HttpRequest next_request() {
    response_ = {};
    accepted_ = {};
    error_body_.clear();
    return exchange_->request(std::time(nullptr));
  }

  Verdict judge(const HttpResult& result) {
    const bool ended = result.end == HttpEnd::kComplete || result.end == HttpEnd::kStopped;
    if (!ended) return transport_verdict(result);
    if (!is_success()) return exchange_->refuse(response_, error_body_);
    if (!accepted_.status.ok()) return accepted_;
    return exchange_->complete();
  }

  const HttpResponse& response() const { return response_; }
  std::unique_ptr<Exchange> release() { return std::move(exchange_); }

  const std::uint64_t id_;
  std::unique_ptr<Exchange> exchange_;
  std::uint32_t failures_ = 0;
  Status last_failure_;
  std::uint64_t due_ns_ = 0;  // of the next attempt, while waiting for it

  std::uint64_t give_up_ns(std::uint64_t timeout_ns) const { return progress_ns_ + timeout_ns; }

 private:
  bool is_success() const { return response_.status / 100 == 2; }

  void note_progress() {
    const std::uint64_t progress = exchange_->progress();
    if (progress < progress_bytes_ + kProgressBytes) return;
    progress_bytes_ = progress;
    progress_ns_ = monotonic_ns();
    failures_ = 0;
  }

  SharedCounters& counters_;
  HttpResponse response_;
  Verdict accepted_;
  std::string error_body_;
  std::uint64_t progress_bytes_ = 0;
  std::uint64_t progress_ns_;
};

Exchanges::Exchanges(ExchangeLimits limits, SharedCounters& counters)
    : limits_(std::move(limits)),
      counters_(counters),
      jitter_seed_(monotonic_ns()),
      transfers_(http_options(limits_)) {}

Exchanges::~Exchanges() = default;

void Exchanges::start(std::uint64_t id, std::unique_ptr<Exchange> exchange) {
  auto running = std::make_unique<Running>(id, std::move(exchange), counters_);
  counters_.in_flight.fetch_add(1, std::memory_order_relaxed);
  begin_attempt(*running_.emplace(id, std::move(running)).first->second);
}

// An exchange that has to wait for something else (its credentials) has not failed.
void Exchanges::begin_attempt(Running& running) {
  const Verdict ready = running.exchange_->ready(std::time(nullptr));
  if (ready.status.ok()) return transfers_.start(running.id_, running.next_request(), running);
  running.last_failure_ = ready.status;
  running.due_ns_ = monotonic_ns() + kReadyCheckNs;
  (ready.retry ? waiting_ : never_ready_).push_back(&running);
}

void Exchanges::end_never_ready(std::vector<ExchangeResult>& ended) {
  for (const Running* running : std::exchange(never_ready_, {}))
    finish(running_.find(running->id_), running->last_failure_, ended);
}

void Exchanges::step(std::uint64_t deadline_ns, std::vector<ExchangeResult>& ended) {
  start_due(monotonic_ns());
  end_never_ready(ended);
  results_.clear();
  transfers_.step(ended.empty() ? std::min(deadline_ns, next_due_ns()) : 0, results_);
  for (const HttpResult& result : results_) settle(result, ended);
  end_too_slow(monotonic_ns(), ended);
}

// Attempts that trickle never stall, so they are looked at from here.
void Exchanges::end_too_slow(std::uint64_t now_ns, std::vector<ExchangeResult>& ended) {
  if (now_ns < slow_check_ns_) return;
  slow_check_ns_ = now_ns + limits_.timeout_ns / 8;
  for (auto at = running_.begin(); at != running_.end();) {
    const auto next = std::next(at);
    Running* const running = at->second.get();
    if (now_ns > running->give_up_ns(limits_.timeout_ns)) {
      transfers_.cancel(running->id_);
      std::erase(waiting_, running);
      Status reason =
          running->last_failure_.ok() ? too_slow(limits_.timeout_ns) : running->last_failure_;
      finish(at, given_up(reason, running->failures_ + 1), ended);
    }
    at = next;
  }
}

void Exchanges::settle(const HttpResult& result, std::vector<ExchangeResult>& ended) {
  const auto at = running_.find(result.id);
  Running& running = *at->second;
  Verdict verdict = running.judge(result);
  if (verdict.status.ok() || !verdict.retry) return finish(at, std::move(verdict.status), ended);
  ++running.failures_;
  const std::uint64_t pause = std::max(backoff_ns(running.failures_, jitter_seed_, ++jitter_draws_),
                                       retry_after_ns(running.response()));
  running.due_ns_ = monotonic_ns() + pause;
  if (running.due_ns_ >= running.give_up_ns(limits_.timeout_ns) ||
      running.failures_ >= limits_.attempts_max) {
    return finish(at, given_up(verdict.status, running.failures_), ended);
  }
  running.last_failure_ = std::move(verdict.status);
  counters_.retried.fetch_add(1, std::memory_order_relaxed);
  waiting_.push_back(&running);
}

void Exchanges::finish(RunningMap::iterator at, Status status, std::vector<ExchangeResult>& ended) {
  auto& count = status.ok() ? counters_.ok : counters_.failed;
  count.fetch_add(1, std::memory_order_relaxed);
  counters_.in_flight.fetch_sub(1, std::memory_order_relaxed);
  auto exchange = at->second->release();
  status = std::move(status).with_context(exchange->what());
  ended.push_back({at->first, std::move(exchange), std::move(status)});
  running_.erase(at);
}

void Exchanges::start_due(std::uint64_t now_ns) {
  const auto later =
      std::partition(waiting_.begin(), waiting_.end(),
                     [now_ns](const Running* running) { return running->due_ns_ > now_ns; });
  const std::vector<Running*> due(later, waiting_.end());
  waiting_.erase(later, waiting_.end());
  for (Running* running : due) begin_attempt(*running);
}

std::uint64_t Exchanges::next_due_ns() const {
  std::uint64_t due = UINT64_MAX;
  for (const Running* running : waiting_) due = std::min(due, running->due_ns_);
  return due;
}

}  // namespace echoline::source
