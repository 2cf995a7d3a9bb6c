#include "engine/remote/call_queue.h"

#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "echoline/v1/preparation.pb.h"

namespace echoline::engine {
namespace {

constexpr const char* kMethod = "/echoline.v1.Preparation/Prepare";
// A server that lives may need this long: its store can be slow.
constexpr auto kPatience = std::chrono::seconds(60);
constexpr auto kProbePatience = std::chrono::seconds(2);

}  // namespace

CallQueue::~CallQueue() {
  for (auto& [call, owned] : calls_) owned->context.TryCancel();
  alarm_.Cancel();
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void CallQueue::send(const std::shared_ptr<RunState>& state,
                     const std::shared_ptr<RemoteServer>& server) {
  v1::PrepareRequest question;
  question.set_stream(stream_);
  question.set_fingerprint(fingerprint_);
  question.mutable_records()->Add(state->run.records.begin(), state->run.records.end());
  const grpc::Slice bytes(question.SerializeAsString());
  auto owned = std::make_unique<RemoteCall>();
  RemoteCall& call = *owned;
  call.state = state;
  call.server = server;
  call.sent_ns = monotonic_ns();
  call.context.set_deadline(std::chrono::system_clock::now() +
                            (state->is_probe() ? kProbePatience : kPatience));
  call.reader =
      server->stub().PrepareUnaryCall(&call.context, kMethod, grpc::ByteBuffer(&bytes, 1), &queue_);
  call.reader->StartCall();
  call.reader->Finish(&call.answer, &call.status, &call);
  state->calls.push_back(&call);
  calls_.emplace(&call, std::move(owned));
  ++server->in_flight;
}

std::unique_ptr<RemoteCall> CallQueue::next(std::chrono::nanoseconds wait) {
  void* tag = nullptr;
  bool ok = false;
  const auto until = std::chrono::system_clock::now() + wait;
  if (queue_.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return nullptr;
  if (tag == &alarm_) {
    woken_.store(false);
    return nullptr;
  }
  auto ended = calls_.extract(static_cast<RemoteCall*>(tag));
  ECHOLINE_CHECK(!ended.empty());
  RemoteCall& call = *ended.mapped();
  --call.server->in_flight;
  std::erase(call.state->calls, &call);
  return std::move(ended.mapped());
}

void CallQueue::wake() {
  // One alarm is enough: the thread takes everything that is there.
  if (!woken_.exchange(true)) alarm_.Set(&queue_, gpr_now(GPR_CLOCK_MONOTONIC), &alarm_);
}

}  // namespace echoline::engine
