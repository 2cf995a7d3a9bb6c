#include "serve/preparation/prepare_call.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "echoline/v1/preparation.pb.h"
#include "prepare/frame.h"
#include "serve/control/control_service.h"

namespace echoline::serve {
namespace {

// The slice keeps the bytes: gRPC sends them without a copy.
grpc::Slice to_slice(prepare::Frame::Part part) {
  using Owner = std::shared_ptr<const Buffer>;
  // gRPC only reads them, although its parameter is not const.
  auto* const bytes = const_cast<std::byte*>(part.bytes.data());
  const std::size_t size = part.bytes.size();
  return grpc::Slice(
      bytes, size, [](void* owner) { delete static_cast<Owner*>(owner); },
      new Owner(std::move(part.owner)));
}

grpc::Slice head_of_frame(std::size_t bytes) {
  std::uint8_t head[12] = {prepare::kFramesTag};
  std::size_t count = 1;
  for (; bytes >= 0x80; bytes >>= 7U) head[count++] = static_cast<std::uint8_t>(bytes | 0x80U);
  head[count++] = static_cast<std::uint8_t>(bytes);
  return grpc::Slice(&head[0], count);
}

grpc::ByteBuffer to_buffer(std::vector<prepare::Frame> frames) {
  std::vector<grpc::Slice> slices;
  for (prepare::Frame& frame : frames) {
    slices.push_back(head_of_frame(frame.bytes()));
    for (prepare::Frame::Part& part : frame.parts) slices.push_back(to_slice(std::move(part)));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

Result<engine::SampleQuestion> parse(const grpc::ByteBuffer& request) {
  grpc::Slice bytes;
  v1::PrepareRequest parsed;
  if (!request.DumpToSingleSlice(&bytes).ok() ||
      !parsed.ParseFromArray(bytes.begin(), static_cast<int>(bytes.size()))) {
    return Status(Code::kInvalidArgument, "the request cannot be read");
  }
  return engine::SampleQuestion{
      parsed.stream(), parsed.fingerprint(), {parsed.records().begin(), parsed.records().end()}};
}

// What a call, its run and gRPC share. The first of them ends the call; the others then do nothing.
class Ending {
 public:
  Ending(grpc::ServerUnaryReactor& reactor, grpc::ByteBuffer& response,
         std::function<void(bool answered)> ended)
      : reactor_(&reactor), response_(response), ended_(std::move(ended)) {}

  void answer(std::vector<prepare::Frame> frames) ECHOLINE_EXCLUDES(mutex_) {
    grpc::ByteBuffer bytes = to_buffer(std::move(frames));
    grpc::ServerUnaryReactor* const reactor = take();
    if (reactor == nullptr) return;
    response_.Swap(&bytes);
    ended_(true);
    reactor->Finish(grpc::Status::OK);
  }
  void fail(const grpc::Status& status) ECHOLINE_EXCLUDES(mutex_) {
    grpc::ServerUnaryReactor* const reactor = take();
    if (reactor == nullptr) return;
    ended_(false);
    reactor->Finish(status);
  }

 private:
  // Null if the call has ended.
  grpc::ServerUnaryReactor* take() ECHOLINE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return std::exchange(reactor_, nullptr);
  }

  Mutex mutex_;  // no other lock is taken under it
  grpc::ServerUnaryReactor* reactor_ ECHOLINE_GUARDED_BY(mutex_);
  grpc::ByteBuffer& response_;  // of gRPC; valid until the call has ended
  const std::function<void(bool answered)> ended_;
};

class PrepareCall final : public grpc::ServerUnaryReactor {
 public:
  PrepareCall(grpc::ByteBuffer& response, std::function<void(bool answered)> ended)
      : ending_(std::make_shared<Ending>(*this, response, std::move(ended))) {}

  void begin(engine::Engine& engine, const grpc::ByteBuffer& request) {
    // This object may be gone as soon as the call has ended.
    const std::shared_ptr<Ending> ending = ending_;
    const std::shared_ptr<Holder> holder = holder_;
    const Result<engine::SampleQuestion> question = parse(request);
    if (!question.ok()) return ending->fail(to_grpc(question.status()));
    auto run = engine.prepare(*question, [ending](std::vector<prepare::Frame> frames) {
      ending->answer(std::move(frames));
    });
    if (!run.ok()) return ending->fail(to_grpc(run.status()));
    holder->keep(std::move(*run));
  }

  void OnCancel() override {
    holder_->drop();
    ending_->fail(grpc::Status(grpc::StatusCode::CANCELLED, "the host has left"));
  }
  void OnDone() override {
    holder_->drop();
    delete this;
  }

 private:
  // Keeps the run as long as the call: its memory counts until the answer was sent.
  class Holder {
   public:
    void keep(std::shared_ptr<engine::SampleRun> run) ECHOLINE_EXCLUDES(mutex_) {
      {
        const MutexLock lock(mutex_);
        if (!ended_) {
          run_ = std::move(run);
          return;
        }
      }
      run->cancel();
    }
    void drop() ECHOLINE_EXCLUDES(mutex_) {
      std::shared_ptr<engine::SampleRun> run;
      {
        const MutexLock lock(mutex_);
        ended_ = true;
        run.swap(run_);
      }
      if (run != nullptr) run->cancel();
    }

   private:
    Mutex mutex_;  // no other lock is taken under it
    std::shared_ptr<engine::SampleRun> run_ ECHOLINE_GUARDED_BY(mutex_);
    bool ended_ ECHOLINE_GUARDED_BY(mutex_) = false;
  };

  const std::shared_ptr<Ending> ending_;
  const std::shared_ptr<Holder> holder_ = std::make_shared<Holder>();
};

}  // namespace

grpc::ServerUnaryReactor* begin_prepare_call(engine::Engine& engine,
                                             const grpc::ByteBuffer& request,
                                             grpc::ByteBuffer& response,
                                             std::function<void(bool answered)> ended) {
  auto* const call = new PrepareCall(response, std::move(ended));
  call->begin(engine, request);
  return call;
}

}  // namespace echoline::serve
