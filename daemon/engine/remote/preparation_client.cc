// The client's thread owns the servers and the runs; others hand runs over and take results under
// the lock. gRPC does its work on that thread, too, while it waits in the completion queue.
#include "engine/remote/preparation_client.h"

#include <fmt/format.h>
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "echoline/v1/preparation.grpc.pb.h"
#include "engine/remote/answer_frames.h"
#include "engine/remote/remote_call.h"
#include "engine/remote/server_list.h"
#include "engine/runtime/agent_thread.h"

namespace echoline::engine {
namespace {

constexpr const char* kMethod = "/echoline.v1.Preparation/Prepare";
constexpr std::uint64_t kMillisecondNs = 1'000'000;
constexpr std::uint64_t kPollNs = 20 * kMillisecondNs;
// A server that lives may need this long: its store can be slow.
constexpr auto kDeadline = std::chrono::seconds(60);
constexpr auto kProbeDeadline = std::chrono::seconds(2);
constexpr auto kCheckDeadline = std::chrono::seconds(5);
// When an answer is late: a multiple of the mean time, within bounds.
constexpr std::uint64_t kLateFactor = 4;
constexpr std::uint64_t kLateMinNs = 100 * kMillisecondNs;
constexpr std::uint64_t kLateMaxNs = 1'000 * kMillisecondNs;
// Second requests: one for so many requests, and a few more at a time.
constexpr double kSecondShare = 0.05;
constexpr double kSecondMax = 8;
constexpr std::uint64_t kAgainNs = 100 * kMillisecondNs;
constexpr std::uint64_t kSilenceLogNs = 10'000 * kMillisecondNs;
// Runs that wait for a server, in addition to those that may be in flight.
constexpr std::size_t kWaitingMax = 32;

constexpr auto kRelaxed = std::memory_order_relaxed;

grpc::ByteBuffer to_buffer(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

bool is_refusal(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::INVALID_ARGUMENT:
      return true;
    default:
      return false;
  }
}

class GrpcPreparationClient final : public PreparationClient, private Agent {
 public:
  GrpcPreparationClient(RemoteOptions options, HostCredentials credentials,
                        std::function<void()> wake)
      : options_(std::move(options)),
        credentials_(credentials),
        wake_owner_(std::move(wake)),
        servers_(options_.servers, {options_.certificate, options_.key, options_.server_ca},
                 std::move(credentials), options_.concurrency),
        thread_(*this, "prepare") {
    note_reachable();
    thread_.start();
  }
  GrpcPreparationClient(const GrpcPreparationClient&) = delete;
  GrpcPreparationClient& operator=(const GrpcPreparationClient&) = delete;

  ~GrpcPreparationClient() override {
    thread_.stop();
    for (auto& [call, owned] : calls_) owned->context.TryCancel();
    alarm_.Cancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  Status check() override {
    Status refusal;
    for (const ServerAddress& address : servers_.addresses()) {
      const auto stub = v1::Preparation::NewStub(open_channel(address, credentials_));
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kCheckDeadline);
      v1::PrepareResponse answer;
      const grpc::Status status = stub->Prepare(&context, question({}), &answer);
      if (status.ok()) return {};
      if (!is_refusal(status.error_code())) continue;
      const bool denied = status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
      refusal = Status(denied ? Code::kPermissionDenied : Code::kFailedPrecondition,
                       fmt::format("prepare.servers: the server {} refuses: {}", address.target,
                                   status.error_message()));
    }
    return refusal;
  }

  bool has_room() const override {
    const std::size_t most = std::size_t{options_.concurrency} * reachable_.load(kRelaxed);
    return runs_.load(kRelaxed) < most + kWaitingMax;
  }
  bool is_reachable() const override { return options_.wait || reachable_.load(kRelaxed) > 0; }
  bool is_busy() const override { return runs_.load(kRelaxed) > 0; }

  void submit(RemoteRun run) override {
    runs_.fetch_add(1, kRelaxed);
    {
      const MutexLock lock(mutex_);
      incoming_.push_back(std::move(run));
    }
    wake();
  }

  std::vector<RemoteResult> take_results() override {
    std::vector<RemoteResult> results;
    const MutexLock lock(mutex_);
    results.swap(results_);
    return results;
  }

  RemoteCounters counters() const override {
    return {.requests = requests_.load(kRelaxed),
            .second = second_.load(kRelaxed),
            .failed = failed_.load(kRelaxed),
            .refused = refused_.load(kRelaxed),
            .busy = busy_.load(kRelaxed),
            .damaged = damaged_.load(kRelaxed),
            .bytes = bytes_.load(kRelaxed),
            .servers = known_.load(kRelaxed),
            .reachable = reachable_.load(kRelaxed),
            .in_flight = in_flight_.load(kRelaxed)};
  }

 private:
  v1::PrepareRequest question(const std::vector<std::uint64_t>& records) const {
    v1::PrepareRequest request;
    request.set_stream(options_.stream);
    request.set_fingerprint(options_.fingerprint);
    request.mutable_records()->Add(records.begin(), records.end());
    return request;
  }

  // Agent, on the client's thread.
  bool do_work() override {
    const std::uint64_t now_ns = monotonic_ns();
    servers_.update();
    take_incoming();
    start_waiting(now_ns);
    send_second_requests(now_ns);
    for (const auto& server : servers_.due_probes(now_ns)) probe(server);
    note_reachable();
    wait_for_event();
    return true;
  }
  void wait() override {}
  void wake() override {
    // One alarm is enough: the thread takes everything that is there.
    if (!woken_.exchange(true)) alarm_.Set(&queue_, gpr_now(GPR_CLOCK_MONOTONIC), &alarm_);
  }

  void take_incoming() {
    std::vector<RemoteRun> runs;
    {
      const MutexLock lock(mutex_);
      runs.swap(incoming_);
    }
    for (RemoteRun& run : runs) {
      auto state = std::make_shared<RunState>();
      state->run = std::move(run);
      waiting_.push_back(std::move(state));
    }
  }

  // Sends each waiting run that has a server now. Where no server is left for it, it ends, or waits.
  void start_waiting(std::uint64_t now_ns) {
    std::deque<std::shared_ptr<RunState>> still;
    for (std::shared_ptr<RunState>& state : waiting_) {
      if (now_ns < state->not_before_ns) {
        still.push_back(std::move(state));
        continue;
      }
      const ServerList::Choice choice = servers_.choose(*state, now_ns);
      if (choice.server != nullptr) {
        send(state, choice.server, false);
      } else if (choice.any_left) {
        still.push_back(std::move(state));
      } else {
        give_up(state, now_ns, still);
      }
    }
    waiting_ = std::move(still);
  }

  void give_up(const std::shared_ptr<RunState>& state, std::uint64_t now_ns,
               std::deque<std::shared_ptr<RunState>>& still) {
    if (silence_log_.due(now_ns)) {
      log_warning({"prepare", options_.stream}, "no preparation server can be reached{}: {}",
                  last_failure_.empty() ? "" : " (" + last_failure_ + ")",
                  options_.wait ? "trainers wait (prepare.fallback: wait)"
                                : "this host reads and decodes itself (prepare.fallback: local)");
    }
    is_silent_ = true;
    if (!options_.wait) {
      return deliver(*state, {.tag = state->run.tag,
                              .status = Status(Code::kUnavailable, "no preparation server")});
    }
    state->tried.clear();
    state->not_before_ns = now_ns + kAgainNs;
    still.push_back(state);
  }

  // Asks a server that has failed for nothing, to see whether it would answer.
  void probe(const std::shared_ptr<RemoteServer>& server) {
    server->probing = true;
    send(std::make_shared<RunState>(), server, false);
  }

  void send(const std::shared_ptr<RunState>& state, const std::shared_ptr<RemoteServer>& server,
            bool is_second) {
    auto owned = std::make_unique<RemoteCall>();
    RemoteCall& call = *owned;
    call.state = state;
    call.server = server;
    call.sent_ns = monotonic_ns();
    call.is_second = is_second;
    const bool is_probe = state->run.records.empty();
    const auto patience = is_probe ? kProbeDeadline : kDeadline;
    call.context.set_deadline(std::chrono::system_clock::now() + patience);
    call.reader = server->stub().PrepareUnaryCall(&call.context, kMethod,
                                                  to_buffer(question(state->run.records)), &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.answer, &call.status, &call);
    state->calls.push_back(&call);
    calls_.emplace(&call, std::move(owned));
    ++server->in_flight;
    in_flight_.fetch_add(1, kRelaxed);
    (is_second ? second_ : requests_).fetch_add(1, kRelaxed);
    if (is_second) requests_.fetch_add(1, kRelaxed);
    second_allowance_ = std::min(kSecondMax, second_allowance_ + kSecondShare);
  }

  std::uint64_t late_after_ns() const {
    return std::clamp(kLateFactor * mean_ns_, kLateMinNs, kLateMaxNs);
  }

  // A run whose answer is late is also asked of the next server, for a bounded share of all.
  void send_second_requests(std::uint64_t now_ns) {
    if (servers_.size() < 2) return;
    std::vector<std::shared_ptr<RunState>> late;
    for (const auto& [call, owned] : calls_) {
      RunState& state = *owned->state;
      if (state.done || state.has_second || state.run.records.empty() || now_ns - owned->sent_ns < late_after_ns()) continue;
      late.push_back(owned->state);
    }
    for (const std::shared_ptr<RunState>& state : late) {
      if (second_allowance_ < 1) return;
      RunState without = *state;
      for (const RemoteCall* call : state->calls) without.tried.push_back(call->server.get());
      const ServerList::Choice choice = servers_.choose(without, now_ns);
      if (choice.server == nullptr) continue;
      second_allowance_ -= 1;
      state->has_second = true;
      send(state, choice.server, true);
    }
  }

  void wait_for_event() {
    void* tag = nullptr;
    bool ok = false;
    const auto until = std::chrono::system_clock::now() + std::chrono::nanoseconds(kPollNs);
    if (queue_.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return;
    if (tag == &alarm_) {
      woken_.store(false);
      return;
    }
    auto owned = calls_.extract(static_cast<RemoteCall*>(tag));
    ECHOLINE_CHECK(!owned.empty());
    finish(*owned.mapped());
  }

  void finish(RemoteCall& call) {
    RunState& state = *call.state;
    --call.server->in_flight;
    in_flight_.fetch_sub(1, kRelaxed);
    std::erase(state.calls, &call);
    if (state.run.records.empty()) call.server->probing = false;
    // The other request was faster.
    if (state.done) return;
    const std::uint64_t now_ns = monotonic_ns();
    if (call.status.ok()) {
      finish_answer(call, now_ns);
    } else {
      finish_failure(call, now_ns);
    }
  }

  void finish_answer(RemoteCall& call, std::uint64_t now_ns) {
    RunState& state = *call.state;
    call.server->note_answer();
    if (state.run.records.empty()) return;
    std::vector<grpc::Slice> slices;
    AnswerPieces pieces;
    if (call.answer.Dump(&slices).ok()) {
      for (const grpc::Slice& slice : slices) {
        pieces.push_back({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
      }
    }
    auto frames = frames_of(pieces, state.run.records, options_.fields);
    if (!frames.ok()) {
      damaged_.fetch_add(1, kRelaxed);
      fail(call, frames.status().message(), now_ns);
      return;
    }
    const std::uint64_t took_ns = now_ns - call.sent_ns;
    mean_ns_ = mean_ns_ == 0 ? took_ns : (7 * mean_ns_ + took_ns) / 8;
    if (is_silent_) {
      is_silent_ = false;
      log_info({"prepare", options_.stream}, "preparation servers answer again");
    }
    for (const auto& frame : *frames) bytes_.fetch_add(frame->size(), kRelaxed);
    for (RemoteCall* other : state.calls) other->context.TryCancel();
    deliver(state, {.tag = state.run.tag, .status = {}, .frames = std::move(*frames)});
  }

  void finish_failure(RemoteCall& call, std::uint64_t now_ns) {
    const grpc::StatusCode code = call.status.error_code();
    if (code == grpc::StatusCode::RESOURCE_EXHAUSTED) {
      busy_.fetch_add(1, kRelaxed);
      call.server->note_busy(now_ns);
      return retry(call);
    }
    const std::string why =
        fmt::format("{}: {}", call.server->address().target, call.status.error_message());
    if (!is_refusal(code)) {
      failed_.fetch_add(1, kRelaxed);
      return fail(call, why, now_ns);
    }
    refused_.fetch_add(1, kRelaxed);
    if (call.server->refusal_log.due(now_ns)) {
      log_error({"prepare", options_.stream}, "the server {} refuses; other servers are asked",
                why);
    }
    last_failure_ = why;
    call.server->note_refusal(now_ns);
    if (call.state->run.records.empty()) return;
    call.state->tried.push_back(call.server.get());
    retry(call);
  }

  void fail(RemoteCall& call, const std::string& why, std::uint64_t now_ns) {
    if (call.server->is_good()) {
      log_warning({"prepare", options_.stream}, "a preparation server fails: {}", why);
    }
    last_failure_ = why;
    call.server->note_failure(now_ns);
    call.state->tried.push_back(call.server.get());
    retry(call);
  }

  // Before all others: their batch is the one that trainers wait for.
  void retry(RemoteCall& call) {
    if (call.state->run.records.empty()) return;
    if (call.state->calls.empty()) waiting_.push_front(call.state);
  }

  void deliver(RunState& state, RemoteResult result) {
    state.done = true;
    runs_.fetch_sub(1, kRelaxed);
    {
      const MutexLock lock(mutex_);
      results_.push_back(std::move(result));
    }
    wake_owner_();
  }

  void note_reachable() {
    known_.store(servers_.size(), kRelaxed);
    const std::uint64_t reachable = servers_.good();
    if (reachable_.exchange(reachable, kRelaxed) != reachable && thread_.is_running()) {
      wake_owner_();
    }
  }

  const RemoteOptions options_;
  const HostCredentials credentials_;  // at the start
  const std::function<void()> wake_owner_;
  grpc::CompletionQueue queue_;
  grpc::Alarm alarm_;
  std::atomic<bool> woken_{false};

  // Of the client's thread:
  ServerList servers_;
  std::deque<std::shared_ptr<RunState>> waiting_;
  std::unordered_map<RemoteCall*, std::unique_ptr<RemoteCall>> calls_;
  std::uint64_t mean_ns_ = 0;  // from a request to its answer
  double second_allowance_ = kSecondMax;
  bool is_silent_ = false;
  std::string last_failure_;
  RateLimiter silence_log_{kSilenceLogNs};

  std::atomic<std::uint64_t> runs_{0};  // without a result
  std::atomic<std::uint64_t> reachable_{0};
  std::atomic<std::uint64_t> known_{0};
  std::atomic<std::uint64_t> in_flight_{0};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> second_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> busy_{0};
  std::atomic<std::uint64_t> damaged_{0};
  std::atomic<std::uint64_t> bytes_{0};

  Mutex mutex_;  // no other lock is taken under it
  std::vector<RemoteRun> incoming_ ECHOLINE_GUARDED_BY(mutex_);
  std::vector<RemoteResult> results_ ECHOLINE_GUARDED_BY(mutex_);
  AgentThread thread_;
};

}  // namespace

Result<std::unique_ptr<PreparationClient>> PreparationClient::open(RemoteOptions options,
                                                                   std::function<void()> wake) {
  ECHOLINE_ASSIGN(HostCredentials credentials,
                  read_credentials({options.certificate, options.key, options.server_ca}));
  return std::unique_ptr<PreparationClient>(std::make_unique<GrpcPreparationClient>(
      std::move(options), std::move(credentials), std::move(wake)));
}

}  // namespace echoline::engine
