// Calls have deadlines. That of creating a stream is long, because the daemon may have to read the
// whole data set.
#include "cli/control_client.h"

#include <echoline/echoline.h>
#include <grpcpp/grpcpp.h>

#include "cli/control_channel.h"
#include "echoline/v1/control.grpc.pb.h"

namespace echoline::cli {
namespace {

constexpr std::chrono::hours kCreatePatience{24};
// Beyond the time of a trace: for what is sent last.
constexpr std::chrono::seconds kTracePatience{60};

Code code_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return Code::kInvalidArgument;
    case grpc::StatusCode::NOT_FOUND:
      return Code::kNotFound;
    case grpc::StatusCode::PERMISSION_DENIED:
      return Code::kPermissionDenied;
    case grpc::StatusCode::ALREADY_EXISTS:
      return Code::kAlreadyExists;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return Code::kFailedPrecondition;
    case grpc::StatusCode::UNIMPLEMENTED:
      return Code::kUnimplemented;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return Code::kResourceExhausted;
    case grpc::StatusCode::UNAVAILABLE:
      return Code::kUnavailable;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Code::kDeadlineExceeded;
    default:
      return Code::kInternal;
  }
}

// `way` explains the error if no daemon answers.
Status status_of(const grpc::Status& status, const ControlChannel& way) {
  if (status.ok()) return Status();
  // UNAVAILABLE over an established connection is the daemon's own error, for example about a
  // store.
  const bool connected = way.channel->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  const bool away = status.error_code() == grpc::StatusCode::UNAVAILABLE;
  if (connected || (!away && !late)) {
    return Status(code_of(status.error_code()), status.error_message());
  }
  return explain_silence(way.daemon, status.error_message());
}

// Without a deadline: it lasts until it is cancelled.
class GrpcStatsCall final : public StatsCall {
 public:
  // There is no stub if the channel could not be opened.
  GrpcStatsCall(const Result<ControlChannel>& way, v1::Control::Stub* stub,
                std::chrono::milliseconds interval)
      : way_(way) {
    if (stub == nullptr) return;
    v1::WatchStatsRequest request;
    request.set_interval_ms(static_cast<std::uint32_t>(interval.count()));
    reader_ = stub->WatchStats(&context_, request);
  }
  // gRPC requires Finish() at the end of a call.
  ~GrpcStatsCall() override {
    cancel();
    if (reader_ != nullptr) reader_->Finish();
  }

  Result<v1::WatchStatsResponse> next() override {
    ECHOLINE_TRY(way_.status());
    v1::WatchStatsResponse response;
    if (reader_ == nullptr) return Status(Code::kCancelled, "the watch has ended");
    if (reader_->Read(&response)) return response;
    const Status status = status_of(reader_->Finish(), *way_);
    reader_.reset();
    return status.ok() ? Status(Code::kUnavailable, "the daemon ended the watch") : status;
  }
  void cancel() override { context_.TryCancel(); }

 private:
  const Result<ControlChannel>& way_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchStatsResponse>> reader_;
};

class GrpcControlClient final : public ControlClient {
 public:
  GrpcControlClient(Result<ControlChannel> way, std::chrono::milliseconds patience)
      : way_(std::move(way)),
        patience_(patience),
        stub_(way_.ok() ? v1::Control::NewStub(way_->channel) : nullptr) {}

  Result<std::vector<v1::StreamStatus>> list() override {
    v1::ListStreamsResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::ListStreams, v1::ListStreamsRequest(), response));
    return std::vector<v1::StreamStatus>(response.streams().begin(), response.streams().end());
  }

  Result<std::map<std::string, std::string>> states(const std::string& stream) override {
    v1::GetStateRequest request;
    request.set_name(stream);
    v1::GetStateResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::GetState, request, response));
    return std::map<std::string, std::string>(response.state_json().begin(),
                                              response.state_json().end());
  }

  Result<std::vector<std::string>> keys(const std::string& stream,
                                        const std::vector<std::uint64_t>& samples) override {
    v1::GetKeysRequest request;
    request.set_name(stream);
    request.mutable_sample_ids()->Add(samples.begin(), samples.end());
    v1::GetKeysResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::GetKeys, request, response));
    return std::vector<std::string>(response.keys().begin(), response.keys().end());
  }

  Result<v1::GetStepResponse> step(const v1::GetStepRequest& request) override {
    v1::GetStepResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::GetStep, request, response));
    return response;
  }

  Status create(const v1::CreateStreamRequest& request) override {
    v1::CreateStreamResponse response;
    return call(&v1::Control::Stub::CreateStream, request, response, kCreatePatience);
  }

  Result<bool> remove(const v1::DeleteStreamRequest& request) override {
    v1::DeleteStreamResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::DeleteStream, request, response));
    return response.deleted();
  }

  Result<bool> drain(const std::string& name, std::chrono::milliseconds patience) override {
    v1::DrainRequest request;
    request.set_name(name);
    request.set_patience_ms(static_cast<std::uint32_t>(patience.count()));
    v1::DrainResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::Drain, request, response, patience_ + patience));
    return response.drained();
  }

  Result<v1::SetEchoResponse> set_echo(const v1::SetEchoRequest& request) override {
    v1::SetEchoResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::SetEcho, request, response));
    return response;
  }

  Result<v1::SetWeightsResponse> set_weights(const v1::SetWeightsRequest& request) override {
    v1::SetWeightsResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::SetWeights, request, response));
    return response;
  }

  Status keep_awake(const std::string& stream, std::chrono::milliseconds duration) override {
    v1::KeepAwakeRequest request;
    request.set_name(stream);
    request.set_duration_ms(static_cast<std::uint32_t>(duration.count()));
    v1::KeepAwakeResponse response;
    return call(&v1::Control::Stub::KeepAwake, request, response);
  }

  Status trace(const v1::WatchTraceRequest& request,
               const std::function<Status(const v1::WatchTraceResponse&)>& take) override {
    ECHOLINE_TRY(way_.status());
    grpc::ClientContext context;
    const std::chrono::milliseconds lasts{request.duration_ms()};
    context.set_deadline(std::chrono::system_clock::now() + lasts + kTracePatience);
    const auto reader = stub_->WatchTrace(&context, request);
    v1::WatchTraceResponse part;
    Status taken;
    while (taken.ok() && reader->Read(&part)) taken = take(part);
    if (!taken.ok()) context.TryCancel();
    const Status ended = status_of(reader->Finish(), *way_);
    return taken.ok() ? ended : taken;
  }

  std::unique_ptr<StatsCall> watch(std::chrono::milliseconds interval) override {
    return std::make_unique<GrpcStatsCall>(way_, stub_.get(), interval);
  }

 private:
  template <typename Method, typename Request, typename Response>
  Status call(Method method, const Request& request, Response& response) {
    return call(method, request, response, patience_);
  }
  template <typename Method, typename Request, typename Response>
  Status call(Method method, const Request& request, Response& response,
              std::chrono::milliseconds patience) {
    ECHOLINE_TRY(way_.status());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    return status_of((stub_.get()->*method)(&context, request, &response), *way_);
  }

  const Result<ControlChannel> way_;
  const std::chrono::milliseconds patience_;
  const std::unique_ptr<v1::Control::Stub> stub_;
};

}  // namespace

std::string runtime_dir_of(const std::string& given) {
  if (!given.empty()) return given;
  // The default of trainers, which the client library knows.
  std::string folder(echoline_runtime_dir(nullptr, 0), '\0');
  echoline_runtime_dir(folder.data(), folder.size() + 1);
  return folder;
}

std::unique_ptr<ControlClient> ControlClient::open(const DaemonOptions& daemon,
                                                   std::chrono::milliseconds patience) {
  return std::make_unique<GrpcControlClient>(open_channel(daemon), patience);
}

}  // namespace echoline::cli
