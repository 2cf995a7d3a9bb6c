#include "engine/remote/server_check.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>

#include "echoline/v1/preparation.grpc.pb.h"
#include "engine/remote/remote_call.h"

namespace echoline::engine {
namespace {

constexpr auto kCheckPatience = std::chrono::seconds(2);
constexpr int kSilentMax = 3;  // of a long list, most may be gone

}  // namespace

Status check_servers(const RemoteOptions& options, const HostCredentials& credentials,
                     const std::vector<ServerAddress>& addresses) {
  v1::PrepareRequest question;
  question.set_stream(options.stream);
  question.set_fingerprint(options.fingerprint);
  Status refusal;
  int silent = 0;
  for (const ServerAddress& address : addresses) {
    const auto stub = v1::SamplePreparation::NewStub(open_channel(address, credentials));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCheckPatience);
    v1::PrepareResponse answer;
    const grpc::Status status = stub->Prepare(&context, question, &answer);
    if (status.ok()) return {};
    if (outcome_of(status.error_code()) != Outcome::kRefused) {
      if (++silent == kSilentMax) break;
      continue;
    }
    const bool denied = status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
    refusal = Status(denied ? Code::kPermissionDenied : Code::kFailedPrecondition,
                     fmt::format("prepare.servers: the server {} refuses: {}", address.target,
                                 status.error_message()));
  }
  return refusal;
}

}  // namespace echoline::engine
