#include "source/credentials/credential_fetch.h"

namespace echoline::source {
namespace {

// Tokens are a few kilobytes; a larger answer is not a credential service.
constexpr std::size_t kAnswerBytesMax = 256 << 10;

}  // namespace

// One request and its answer as it arrives.
struct CredentialFetch::PendingRequest : HttpSink {
  bool on_response(const HttpResponse& got) override {
    response = got;
    return true;
  }
  bool on_body(std::span<const std::byte> bytes) override {
    // Compared without a sum, which could overflow.
    if (bytes.size() > kAnswerBytesMax - body.size()) return false;
    body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }

  HttpResponse response;
  std::string body;
};

// One request at a time, so one connection is enough. The provider sets the time limit.
CredentialFetch::CredentialFetch(CredentialProvider& provider, const std::string& ca_file)
    : provider_(provider),
      transfers_(HttpOptions{
          .connections_max = 1, .stall_ns = provider.timeout_ns(), .ca_file = ca_file}) {}

CredentialFetch::~CredentialFetch() = default;

void CredentialFetch::start(std::time_t now) {
  running_ = true;
  step_ = provider_.start(now);
}

std::optional<Result<Credentials>> CredentialFetch::poll(std::time_t now) {
  // A loop, because a step may be there at once, such as a file that was read.
  while (running_) {
    std::optional<Result<CredentialStep>> step = std::exchange(step_, std::nullopt);
    if (!step) step = next_step(now);
    // Still in flight.
    if (!step) return std::nullopt;
    // Ended, unless another step begins below.
    running_ = false;
    if (!step->ok()) return Result<Credentials>(step->status());
    if (auto* credentials = std::get_if<Credentials>(&step->value()))
      return Result<Credentials>(std::move(*credentials));
    if (Status status = begin(std::move(*step).value()); !status.ok())
      return Result<Credentials>(std::move(status));
    running_ = true;
  }
  return std::nullopt;
}

Status CredentialFetch::begin(CredentialStep step) {
  if (const auto* call = std::get_if<ProcessCall>(&step)) {
    ECHOLINE_ASSIGN(process_, ChildProcess::start(*call));
    return {};
  }
  request_ = std::make_unique<PendingRequest>();
  transfers_.start(0, std::get<HttpRequest>(step), *request_);
  return {};
}

std::optional<Result<CredentialStep>> CredentialFetch::next_step(std::time_t now) {
  // A program: its output is the next step's input.
  if (process_) {
    const std::optional<Result<std::string>> output = process_->poll();
    if (!output) return std::nullopt;
    process_.reset();
    if (!output->ok()) return Result<CredentialStep>(output->status());
    return provider_.output(output->value(), now);
  }
  ended_.clear();
  // Does not wait: poll is called with the lock of CredentialSource.
  transfers_.step(0, ended_);
  if (ended_.empty()) return std::nullopt;
  return read_answer(ended_.front(), now);
}

Result<CredentialStep> CredentialFetch::read_answer(const HttpResult& result, std::time_t now) {
  // Moved out: a next request gets an object of its own.
  const auto request = std::move(request_);
  if (result.end == HttpEnd::kStopped)
    return Status(Code::kUnavailable, "its answer is unreasonably long");
  if (result.end != HttpEnd::kComplete)
    // A certificate does not become valid by a retry.
    return Status(result.end == HttpEnd::kUntrusted ? Code::kPermissionDenied : Code::kUnavailable,
                  result.error);
  const HttpResponse& response = request->response;
  if (response.status / 100 == 2) return provider_.answer(response, request->body, now);
  return provider_.refuse(response.status, request->body);
}

}  // namespace echoline::source
