// Runs the steps of a provider until it has credentials.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source/credentials/child_process.h"
#include "source/credentials/credential_provider.h"

namespace echoline::source {

// One thread at a time. Nothing waits: each poll() moves the steps on as far as they go now.
class CredentialFetch {
 public:
  // The provider must outlive it. `ca_file` is for https; empty means the system's authorities.
  CredentialFetch(CredentialProvider& provider, const std::string& ca_file);
  ~CredentialFetch();

  bool is_running() const { return running_; }
  // Not while it is running.
  void start(std::time_t now);
  // The result, once; empty while a request or a program is in flight.
  std::optional<Result<Credentials>> poll(std::time_t now);

 private:
  struct PendingRequest;

  // The outcome of what is in flight; empty if it is not there yet.
  std::optional<Result<CredentialStep>> next_step(std::time_t now);
  // The step that follows from the end of a request.
  Result<CredentialStep> read_answer(const HttpResult& result, std::time_t now);
  // Sends the request or runs the program of a step.
  Status begin(CredentialStep step);

  CredentialProvider& provider_;
  bool running_ = false;
  std::optional<Result<CredentialStep>> step_;  // not taken yet
  std::unique_ptr<PendingRequest> request_;     // at most one of the two is in flight
  std::unique_ptr<ChildProcess> process_;
  HttpTransfers transfers_;  // destroyed before request_, which it points to
  std::vector<HttpResult> ended_;
};

}  // namespace echoline::source
