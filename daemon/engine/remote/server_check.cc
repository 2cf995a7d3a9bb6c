#include "engine/remote/server_check.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <chrono>
#include <memory>

#include "echoline/v1/preparation.grpc.pb.h"
#include "engine/remote/remote_call.h"

namespace echoline::engine {
namespace {

constexpr auto kCheckPatience = std::chrono::seconds(2);
constexpr int kSilentMax = 3;  // of a long list, most may be gone

v1::PrepareRequest question_of(const RemoteOptions& options) {
  v1::PrepareRequest question;
  question.set_stream(options.stream);
  question.set_fingerprint(options.fingerprint);
  return question;
}

void set_deadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kCheckPatience);
}

Code refusal_code(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::PERMISSION_DENIED ? Code::kPermissionDenied
                                                                    : Code::kFailedPrecondition;
}

// One question on its way.
struct Question {
  std::string server;
  std::unique_ptr<v1::SamplePreparation::Stub> stub;
  grpc::ClientContext context;
  v1::PrepareResponse answer;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::PrepareResponse>> reader;
};

Status status_of(const Question& question) {
  const grpc::Status& status = question.status;
  switch (outcome_of(status.error_code())) {
    case Outcome::kAnswered:
    case Outcome::kBusy:
      return {};
    case Outcome::kRefused:
      return Status(refusal_code(status), "it refuses: " + status.error_message());
    default:
      break;
  }
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  return Status(Code::kUnavailable, late ? fmt::format("no answer in {} s", kCheckPatience.count())
                                         : status.error_message());
}

}  // namespace

Status check_servers(const RemoteOptions& options, const HostCredentials& credentials,
                     const std::vector<ServerAddress>& addresses) {
  const v1::PrepareRequest question = question_of(options);
  Status refusal;
  int silent = 0;
  for (const ServerAddress& address : addresses) {
    const auto stub = v1::SamplePreparation::NewStub(open_channel(address, credentials));
    grpc::ClientContext context;
    set_deadline(context);
    v1::PrepareResponse answer;
    const grpc::Status status = stub->Prepare(&context, question, &answer);
    if (status.ok()) return {};
    if (outcome_of(status.error_code()) != Outcome::kRefused) {
      if (++silent == kSilentMax) break;
      continue;
    }
    refusal = Status(refusal_code(status), fmt::format("prepare.servers: the server {} refuses: {}",
                                                       address.target, status.error_message()));
  }
  return refusal;
}

std::vector<ServerAnswer> ask_servers(const RemoteOptions& options,
                                      const HostCredentials& credentials) {
  std::vector<ServerAnswer> answers;
  std::vector<std::unique_ptr<Question>> questions;
  for (const std::string& server : options.servers) {
    const Result<std::vector<ServerAddress>> addresses = resolve_server(server);
    if (!addresses.ok()) {
      answers.push_back({server, addresses.status()});
      continue;
    }
    for (const ServerAddress& address : *addresses) {
      if (questions.size() == kAskedMax) break;
      auto question = std::make_unique<Question>();
      question->server =
          addresses->size() == 1 ? server : fmt::format("{} ({})", server, address.target);
      question->stub = v1::SamplePreparation::NewStub(open_channel(address, credentials));
      questions.push_back(std::move(question));
    }
  }
  grpc::CompletionQueue queue;
  const v1::PrepareRequest asked = question_of(options);
  for (const auto& question : questions) {
    set_deadline(question->context);
    question->reader = question->stub->AsyncPrepare(&question->context, asked, &queue);
    question->reader->Finish(&question->answer, &question->status, question.get());
  }
  void* tag = nullptr;
  bool ok = false;
  // Each of them ends at its deadline.
  for (std::size_t left = questions.size(); left > 0; --left) queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  for (const auto& question : questions) {
    answers.push_back({question->server, status_of(*question)});
  }
  return answers;
}

}  // namespace echoline::engine
