// The client's thread owns the servers and the runs; others hand runs over and take results under
// the lock.
#include "engine/remote/preparation_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "engine/remote/answer_frames.h"
#include "engine/remote/busy_watch.h"
#include "engine/remote/call_queue.h"
#include "engine/remote/remote_meter.h"
#include "engine/remote/run_gatherer.h"
#include "engine/remote/run_handover.h"
#include "engine/remote/server_check.h"
#include "engine/remote/server_list.h"
#include "engine/runtime/agent_thread.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMillisecondNs = 1'000'000;
constexpr std::chrono::milliseconds kPoll{20};
// When an answer is late: a multiple of the mean time, within bounds.
constexpr std::uint64_t kLateFactor = 4;
constexpr std::uint64_t kLateMinNs = 100 * kMillisecondNs;
constexpr std::uint64_t kLateMaxNs = 1'000 * kMillisecondNs;
// Second requests: one for so many requests, and a few more at a time.
constexpr double kSecondShare = 0.05;
constexpr double kSecondMax = 8;
constexpr std::uint64_t kAgainNs = 100 * kMillisecondNs;
constexpr std::uint64_t kSilenceLogNs = 10'000 * kMillisecondNs;

void log_silence(const RemoteOptions& options, const std::string& why) {
  log_warning({"prepare", options.stream}, "no preparation server can be reached{}: {}",
              why.empty() ? "" : " (" + why + ")",
              options.wait ? "trainers wait (prepare.fallback: wait)"
                           : "this host reads and decodes itself (prepare.fallback: local)");
}

// Runs whose only request is late.
std::vector<std::shared_ptr<RunState>> late_runs(const CallQueue& calls, std::uint64_t now_ns,
                                                 std::uint64_t late_ns) {
  std::vector<std::shared_ptr<RunState>> late;
  calls.for_each([&](const RemoteCall& call) {
    const RunState& state = *call.state;
    if (state.done || state.has_second || state.is_probe()) return;
    if (now_ns - call.sent_ns >= late_ns) late.push_back(call.state);
  });
  return late;
}

class RemoteClient final : public PreparationClient, private Agent {
 public:
  RemoteClient(RemoteOptions options, const HostCredentials& credentials,
               std::function<void()> wake)
      : options_(std::move(options)),
        credentials_(credentials),
        handover_(std::move(wake)),
        servers_(options_.servers, {options_.certificate, options_.key, options_.server_ca},
                 credentials, options_.concurrency),
        calls_(CallQueue::open(options_.stream, options_.fingerprint)),
        gatherer_(options_.concurrency, [this](const StatePtr& state,
                                               const auto& server) { send(state, server, false); }),
        busy_(options_.stream, options_.wait),
        thread_(*this, "prepare") {
    note_reachable();
    thread_.start();
  }
  RemoteClient(const RemoteClient&) = delete;
  RemoteClient& operator=(const RemoteClient&) = delete;
  ~RemoteClient() override { thread_.stop(); }

  Status check() override { return check_servers(options_, credentials_, servers_.addresses()); }

  bool has_room() const override { return handover_.has_room(); }
  bool is_reachable() const override { return options_.wait || meter_.reachable.load() > 0; }
  RemoteStats stats() const override { return meter_.stats(); }

  void submit(RemoteRun run) override {
    handover_.submit(std::move(run));
    wake();
  }

  std::vector<RemoteResult> take_results() override { return handover_.take_results(); }

 private:
  using StatePtr = std::shared_ptr<RunState>;

  // Agent, on the client's thread.
  bool do_work() override {
    const std::uint64_t now_ns = monotonic_ns();
    servers_.update();
    take_incoming();
    start_waiting(now_ns);
    send_second_requests(now_ns);
    for (const auto& server : servers_.due_probes(now_ns)) {
      server->probing = true;
      send(std::make_shared<RunState>(), server, false);
    }
    note_reachable();
    if (const auto ended = calls_->next(kPoll)) finish(*ended);
    return true;
  }
  void wait() override {}
  void wake() override { calls_->wake(); }

  void take_incoming() {
    for (RemoteRun& run : handover_.take_runs()) {
      waiting_.push_back(state_of(std::move(run)));
      waiting_.back()->is_unsent = true;
    }
  }

  // Gives each waiting run that has a server now to the gatherer, or sends it if it has failed
  // before. Where no server is left for it, it ends, or waits.
  void start_waiting(std::uint64_t now_ns) {
    std::deque<StatePtr> waiting;
    waiting.swap(waiting_);
    for (StatePtr& state : waiting) {
      if (now_ns < state->not_before_ns) {
        waiting_.push_back(std::move(state));
        continue;
      }
      const ServerList::Choice choice = servers_.choose(*state, now_ns);
      if (choice.server != nullptr) {
        if (std::exchange(state->is_unsent, false)) handover_.count_sent();
        if (state->is_fresh()) {
          gatherer_.add(state, choice.server, now_ns);
        } else {
          send(state, choice.server, false);
        }
      } else if (choice.any_left) {
        waiting_.push_back(std::move(state));
      } else {
        give_up(state, now_ns);
      }
    }
    const std::vector<StatePtr> left = gatherer_.send_due(now_ns);
    waiting_.insert(waiting_.begin(), left.begin(), left.end());
  }

  void give_up(const StatePtr& state, std::uint64_t now_ns) {
    is_silent_ = true;
    if (silence_log_.due(now_ns)) log_silence(options_, last_failure_);
    if (!options_.wait) return deliver_unprepared(*state);
    state->tried.clear();
    state->not_before_ns = now_ns + kAgainNs;
    waiting_.push_back(state);
  }

  void send(const StatePtr& state, const std::shared_ptr<RemoteServer>& server, bool is_second) {
    calls_->send(state, server);
    meter_.in_flight.store(calls_->size());
    if (is_second) RemoteMeter::add(meter_.second);
    second_allowance_ = std::min(kSecondMax, second_allowance_ + kSecondShare);
  }

  // A run whose answer is late is also asked of another server, for a bounded share of all.
  void send_second_requests(std::uint64_t now_ns) {
    if (servers_.size() < 2) return;
    const std::uint64_t late_ns = std::clamp(kLateFactor * mean_ns_, kLateMinNs, kLateMaxNs);
    for (const StatePtr& state : late_runs(*calls_, now_ns, late_ns)) {
      if (second_allowance_ < 1) return;
      RunState others = *state;
      for (const RemoteCall* call : state->calls) others.tried.push_back(call->server.get());
      const ServerList::Choice choice = servers_.choose(others, now_ns);
      if (choice.server == nullptr) continue;
      second_allowance_ -= 1;
      state->has_second = true;
      send(state, choice.server, true);
    }
  }

  void finish(const EndedCall& ended) {
    RemoteCall& call = *ended.call;
    meter_.in_flight.store(calls_->size());
    if (call.state->is_probe()) call.server->probing = false;
    // The other request was faster.
    if (call.state->done) return;
    const std::uint64_t now_ns = monotonic_ns();
    switch (ended.outcome) {
      case Outcome::kAnswered:
        return finish_answer(call, ended.answer, now_ns);
      case Outcome::kBusy:
        RemoteMeter::add(meter_.busy);
        call.server->note_busy(now_ns);
        if (busy_.note_busy(*call.state, call.server->address().target, ended.why, now_ns)) {
          return deliver_unprepared(*call.state);
        }
        return again(call);
      case Outcome::kRefused:
        RemoteMeter::add(meter_.refused);
        return refuse(call, ended.why, now_ns);
      case Outcome::kFailed:
        RemoteMeter::add(meter_.failed);
        return fail(call, ended.why, now_ns);
    }
  }

  void finish_answer(RemoteCall& call, const AnswerPieces& answer, std::uint64_t now_ns) {
    RunState& state = *call.state;
    if (state.is_probe()) return call.server->note_answer();
    auto frames = frames_of(answer, state.records(), options_.fields);
    if (!frames.ok()) {
      RemoteMeter::add(meter_.damaged);
      return refuse(call, frames.status().message(), now_ns);
    }
    call.server->note_answer();
    busy_.note_answer();
    const std::uint64_t took_ns = now_ns - call.sent_ns;
    mean_ns_ = mean_ns_ == 0 ? took_ns : (7 * mean_ns_ + took_ns) / 8;
    if (std::exchange(is_silent_, false)) {
      log_info({"prepare", options_.stream}, "preparation servers answer again");
    }
    RemoteMeter::add(meter_.answered);
    for (const auto& frame : *frames) RemoteMeter::add(meter_.bytes, frame->size());
    for (RemoteCall* other : state.calls) other->cancel();
    std::vector<RemoteRun> without;
    deliver(state, results_of(state, std::move(*frames), without));
    // The first run comes first again.
    for (auto run = without.rbegin(); run != without.rend(); ++run)
      waiting_.push_front(state_of(std::move(*run)));
  }

  // The server works, but its answers are of no use to this host.
  void refuse(RemoteCall& call, std::string_view why, std::uint64_t now_ns) {
    last_failure_ = fmt::format("{}: {}", call.server->address().target, why);
    if (call.server->refusal_log.due(now_ns)) {
      log_error({"prepare", options_.stream}, "a preparation server is not used: {}",
                last_failure_);
    }
    call.server->note_refusal(now_ns);
    call.state->tried.push_back(call.server.get());
    again(call);
  }

  void fail(RemoteCall& call, std::string_view why, std::uint64_t now_ns) {
    last_failure_ = fmt::format("{}: {}", call.server->address().target, why);
    if (call.server->is_good()) {
      log_warning({"prepare", options_.stream}, "a preparation server fails: {}", last_failure_);
    }
    call.server->note_failure(now_ns);
    call.state->tried.push_back(call.server.get());
    again(call);
  }

  // Before all others: their batch is the one that trainers wait for.
  void again(const RemoteCall& call) {
    if (call.state->calls.empty() && !call.state->is_probe()) waiting_.push_front(call.state);
  }

  void deliver_unprepared(RunState& state) {
    const Status unreachable(Code::kUnavailable, "no preparation server can be reached");
    std::vector<RemoteResult> results;
    for (const RemoteRun& run : state.runs) results.push_back({run.tag, unreachable});
    if (std::exchange(state.is_unsent, false)) handover_.count_sent();
    deliver(state, std::move(results));
  }

  void deliver(RunState& state, std::vector<RemoteResult> results) {
    state.done = true;
    handover_.deliver(std::move(results));
  }

  void note_reachable() {
    meter_.servers.store(servers_.size());
    const std::uint64_t reachable = servers_.good();
    if (meter_.reachable.exchange(reachable) != reachable) handover_.wake_owner();
  }

  const RemoteOptions options_;
  const HostCredentials credentials_;  // at the start
  RunHandover handover_;
  RemoteMeter meter_;

  // Of the client's thread:
  ServerList servers_;
  const std::unique_ptr<CallQueue> calls_;
  std::deque<StatePtr> waiting_;
  RunGatherer gatherer_;
  BusyWatch busy_;
  std::uint64_t mean_ns_ = 0;  // from a request to its answer
  double second_allowance_ = kSecondMax;
  bool is_silent_ = false;
  std::string last_failure_;
  RateLimiter silence_log_{kSilenceLogNs};

  AgentThread thread_;
};

}  // namespace

Result<std::unique_ptr<PreparationClient>> PreparationClient::open(RemoteOptions options,
                                                                   std::function<void()> wake) {
  ECHOLINE_ASSIGN(const HostCredentials credentials,
                  read_credentials({options.certificate, options.key, options.server_ca}));
  return std::unique_ptr<PreparationClient>(
      std::make_unique<RemoteClient>(std::move(options), credentials, std::move(wake)));
}

}  // namespace echoline::engine
