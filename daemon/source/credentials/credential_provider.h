// Where credentials come from: a provider says which requests to send and which program to run, and
// reads the answers. It waits for nothing; CredentialFetch runs the steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "source/credentials/credentials.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

// A program whose standard output is wanted.
struct ProcessCall {
  std::vector<std::string> arguments;  // the program first; looked up in PATH, no shell
  std::vector<std::pair<std::string, std::string>> variables;  // besides the daemon's environment
  std::uint64_t timeout_ns = 60'000'000'000;                   // then it is killed
};

// The result of one step: what to do next, or the credentials.
using CredentialStep = std::variant<HttpRequest, ProcessCall, Credentials>;

// Called by one thread at a time. kUnavailable may be temporary; any other error is final until the
// next renewal. Errors never contain a secret.
class CredentialProvider {
 public:
  virtual ~CredentialProvider() = default;

  // Starts over, whatever was in progress.
  virtual Result<CredentialStep> start(std::time_t now) = 0;

  // Takes a 2xx answer to the last request.
  virtual Result<CredentialStep> answer(const HttpResponse& response, std::string_view body,
                                        std::time_t now);
  // The error for any other answer.
  virtual Status refuse(int status, std::string_view body) const;

  // Takes what the program has written.
  virtual Result<CredentialStep> output(std::string_view text, std::time_t now);

  // How long a request may wait without receiving a byte.
  virtual std::uint64_t timeout_ns() const { return 5'000'000'000; }

  // "the instance's metadata service at http://...", for messages.
  virtual std::string what() const = 0;
};

using ProviderPtr = std::unique_ptr<CredentialProvider>;

}  // namespace echoline::source
