#include "engine/remote/call_queue.h"

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "echoline/v1/preparation.pb.h"

namespace echoline::engine {
namespace {

constexpr const char* kMethod = "/echoline.v1.SamplePreparation/Prepare";
// A server that lives may need this long: its store can be slow.
constexpr auto kPatience = std::chrono::seconds(60);
constexpr auto kProbePatience = std::chrono::seconds(2);

class GrpcCall final : public RemoteCall {
 public:
  void cancel() override { context.TryCancel(); }

  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  std::vector<grpc::Slice> slices;  // of the answer
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
};

EndedCall ended(std::unique_ptr<GrpcCall> call) {
  EndedCall end;
  end.outcome = outcome_of(call->status.error_code());
  end.why = call->status.error_message();
  // Not ok: no bytes, which is no answer either.
  (void)call->answer.Dump(&call->slices);
  for (const grpc::Slice& slice : call->slices) {
    end.answer.push_back({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
  }
  end.call = std::move(call);
  return end;
}

class GrpcCallQueue final : public CallQueue {
 public:
  GrpcCallQueue(std::string stream, std::string fingerprint)
      : stream_(std::move(stream)), fingerprint_(std::move(fingerprint)) {}
  GrpcCallQueue(const GrpcCallQueue&) = delete;
  GrpcCallQueue& operator=(const GrpcCallQueue&) = delete;

  ~GrpcCallQueue() override {
    for (auto& [call, owned] : calls_) owned->cancel();
    alarm_.Cancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  void send(const std::shared_ptr<RunState>& state,
            const std::shared_ptr<RemoteServer>& server) override {
    auto owned = std::make_unique<GrpcCall>();
    GrpcCall& call = *owned;
    call.state = state;
    call.server = server;
    call.sent_ns = monotonic_ns();
    call.context.set_deadline(std::chrono::system_clock::now() +
                              (state->is_probe() ? kProbePatience : kPatience));
    const grpc::Slice bytes(question(state->records()));
    grpc::GenericStub stub(server->channel());
    call.reader =
        stub.PrepareUnaryCall(&call.context, kMethod, grpc::ByteBuffer(&bytes, 1), &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.answer, &call.status, &call);
    state->calls.push_back(&call);
    calls_.emplace(&call, std::move(owned));
    ++server->in_flight;
  }

  std::optional<EndedCall> next(std::chrono::nanoseconds wait) override {
    void* tag = nullptr;
    bool ok = false;
    const auto until = std::chrono::system_clock::now() + wait;
    if (queue_.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return {};
    if (tag == &alarm_) {
      woken_.store(false);
      return {};
    }
    auto found = calls_.extract(static_cast<GrpcCall*>(tag));
    ECHOLINE_CHECK(!found.empty());
    RemoteCall* const call = found.mapped().get();
    --call->server->in_flight;
    std::erase(call->state->calls, call);
    return ended(std::move(found.mapped()));
  }

  void wake() override {
    // One alarm is enough: the thread takes everything that is there.
    if (!woken_.exchange(true)) alarm_.Set(&queue_, gpr_now(GPR_CLOCK_MONOTONIC), &alarm_);
  }

  std::size_t size() const override { return calls_.size(); }
  void for_each(const std::function<void(const RemoteCall&)>& visit) const override {
    for (const auto& [call, owned] : calls_) visit(*owned);
  }

 private:
  std::string question(const std::vector<std::uint64_t>& records) const {
    v1::PrepareRequest request;
    request.set_stream(stream_);
    request.set_fingerprint(fingerprint_);
    request.mutable_records()->Add(records.begin(), records.end());
    return request.SerializeAsString();
  }

  const std::string stream_;
  const std::string fingerprint_;
  grpc::CompletionQueue queue_;
  grpc::Alarm alarm_;
  std::atomic<bool> woken_{false};
  std::unordered_map<GrpcCall*, std::unique_ptr<GrpcCall>> calls_;
};

}  // namespace

std::unique_ptr<CallQueue> CallQueue::open(std::string stream, std::string fingerprint) {
  return std::make_unique<GrpcCallQueue>(std::move(stream), std::move(fingerprint));
}

Outcome outcome_of(int code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return Outcome::kAnswered;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return Outcome::kBusy;
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::INVALID_ARGUMENT:
      return Outcome::kRefused;
    default:
      return Outcome::kFailed;
  }
}

}  // namespace echoline::engine
