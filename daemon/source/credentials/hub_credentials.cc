// A method returns an empty pointer if it is not configured.
#include "source/credentials/hub_credentials.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.h"
#include "source/credentials/environment.h"

namespace echoline::source {
namespace {

using Found = Result<std::shared_ptr<CredentialSource>>;

constexpr std::string_view kHubSetup =
    "set HF_TOKEN to a token, or log in with `hf auth login`, or set `credentials_file` to a file "
    "with a token, or `credentials: anonymous` for a public data set";

// A token becomes a part of a header.
Result<Credentials> token_of(std::string_view text) {
  const std::string_view token = trimmed(text);
  const bool printable = std::all_of(token.begin(), token.end(), [](char c) {
    return c > ' ' && static_cast<unsigned char>(c) < 127;
  });
  if (token.empty() || !printable)
    return Status(Code::kInvalidArgument, "it holds no token, which is one word, hf_...");
  Credentials credentials;
  credentials.token = token;
  return credentials;
}

class TokenFile : public CredentialProvider {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}

  Result<CredentialStep> start(std::time_t) override {
    ECHOLINE_ASSIGN(const std::string text, read_text_file(path_));
    ECHOLINE_ASSIGN(Credentials credentials, token_of(text));
    return CredentialStep(std::move(credentials));
  }
  std::string what() const override { return "token file " + path_; }

 private:
  const std::string path_;
};

std::shared_ptr<CredentialSource> token_file(const std::string& path) {
  return shared_credentials("hub file " + path, [&] {
    return std::make_shared<CredentialSource>(std::make_unique<TokenFile>(path), "");
  });
}

Found variable() {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    const std::string value = from_environment(name);
    if (value.empty()) continue;
    auto credentials = token_of(value);
    if (!credentials.ok()) return std::move(credentials).status().with_context(name);
    return std::make_shared<CredentialSource>(std::move(credentials).value(), name);
  }
  return Found(nullptr);
}

// The file that a variable names has to be there; that of a login may be missing.
std::shared_ptr<CredentialSource> login_file() {
  if (const std::string path = from_environment("HF_TOKEN_PATH"); !path.empty())
    return token_file(path);
  std::string home = from_environment("HF_HOME");
  if (home.empty()) {
    const std::string cache = from_environment("XDG_CACHE_HOME");
    home = (cache.empty() ? in_home(".cache") : cache) + "/huggingface";
  }
  const std::string path = home + "/token";
  return file_exists(path) ? token_file(path) : nullptr;
}

}  // namespace

Found hub_credentials(const CredentialOptions& options) {
  const std::string& from = options.from;
  if (from == "anonymous") return std::make_shared<CredentialSource>(Credentials());
  const bool is_auto = from == "auto";
  if (!is_auto && from != "environment" && from != "file")
    return Status(Code::kInvalidArgument,
                  fmt::format("`credentials: {}` is not a way to the Hub; {}", from, kHubSetup));
  if (from != "environment" && !options.file.empty()) return token_file(options.file);
  if (from != "file") {
    ECHOLINE_ASSIGN(auto found, variable());
    if (found) return found;
  }
  if (from != "environment")
    if (auto found = login_file()) return found;
  if (is_auto) return std::make_shared<CredentialSource>(Credentials());
  return Status(
      Code::kPermissionDenied,
      fmt::format("`credentials: {}` is not set up on this machine; {}", from, kHubSetup));
}

}  // namespace echoline::source
