#include "source/credentials/credential_provider.h"

#include "source/credentials/credential_answer.h"

namespace echoline::source {

// Defaults for providers that send no request or run no program: the calls would be a bug.
Result<CredentialStep> CredentialProvider::answer(const HttpResponse&, std::string_view,
                                                  std::time_t) {
  return Status(Code::kInternal, "it sent no request");
}

Status CredentialProvider::refuse(int status, std::string_view) const {
  return credential_refusal(status, "");
}

Result<CredentialStep> CredentialProvider::output(std::string_view, std::time_t) {
  return Status(Code::kInternal, "it ran no program");
}

}  // namespace echoline::source
