// Calls have deadlines; that of creating a stream is long, as it may have to read the whole data
// set.
#include "cli/control_client.h"

#include <echoline/echoline.h>
#include <grpcpp/grpcpp.h>

#include "cli/control_channel.h"
#include "echoline/v1/control.grpc.pb.h"

namespace echoline::cli {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::hours kCreatePatience{24};

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

class GrpcControlClient final : public ControlClient {
 public:
  explicit GrpcControlClient(Result<ControlChannel> way)
      : way_(std::move(way)), stub_(way_.ok() ? v1::Control::NewStub(way_->channel) : nullptr) {}

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

  Status remove(const v1::DeleteStreamRequest& request) override {
    v1::DeleteStreamResponse response;
    return call(&v1::Control::Stub::DeleteStream, request, response);
  }

  Result<bool> drain(const std::string& name, std::chrono::milliseconds patience) override {
    v1::DrainRequest request;
    request.set_name(name);
    request.set_patience_ms(static_cast<std::uint32_t>(patience.count()));
    v1::DrainResponse response;
    ECHOLINE_TRY(call(&v1::Control::Stub::Drain, request, response, kPatience + patience));
    return response.drained();
  }

 private:
  template <typename Method, typename Request, typename Response>
  Status call(Method method, const Request& request, Response& response,
              std::chrono::milliseconds patience = kPatience) {
    ECHOLINE_TRY(way_.status());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    const grpc::Status status = (stub_.get()->*method)(&context, request, &response);
    if (status.ok()) return Status();
    // UNAVAILABLE over a connection that stands is the daemon's own word, about a store perhaps.
    const bool connected = way_->channel->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
    const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    const bool away = status.error_code() == grpc::StatusCode::UNAVAILABLE;
    if (connected || (!away && !late)) {
      return Status(code_of(status.error_code()), status.error_message());
    }
    return explain_silence(way_->daemon, status.error_message());
  }

  const Result<ControlChannel> way_;
  std::unique_ptr<v1::Control::Stub> stub_;
};

}  // namespace

std::string runtime_dir_of(const std::string& given) {
  if (!given.empty()) return given;
  // The client library knows where trainers look.
  std::string folder(echoline_runtime_dir(nullptr, 0), '\0');
  echoline_runtime_dir(folder.data(), folder.size() + 1);
  return folder;
}

std::unique_ptr<ControlClient> ControlClient::open(const DaemonOptions& daemon) {
  return std::make_unique<GrpcControlClient>(open_channel(daemon));
}

}  // namespace echoline::cli
