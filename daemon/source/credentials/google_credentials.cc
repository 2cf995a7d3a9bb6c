// A method returns an empty pointer if it is not configured.
#include "source/credentials/google_credentials.h"

#include <fmt/core.h>

#include "source/credentials/environment.h"
#include "source/credentials/google_providers.h"

namespace echoline::source {
namespace {

using Found = Result<std::shared_ptr<CredentialSource>>;

constexpr std::string_view kGoogleSetup =
    "set GOOGLE_APPLICATION_CREDENTIALS to a key file, or log in with `gcloud auth "
    "application-default login`, or set `credentials: anonymous` for a public bucket";

// Tokens for writing and for reading are separate sets.
std::string name_of(const char* kind, const CredentialOptions& options) {
  return fmt::format("google {} {}", kind, options.access == Access::kWrite ? "rw" : "ro");
}

Found key_file(const std::string& path, const CredentialOptions& options) {
  // A file that the `read` step names may not run programs; one of the environment may.
  ECHOLINE_ASSIGN(auto provider, key_file_provider(path, options.access, path != options.file));
  const std::string name = fmt::format("{} {} {} {}", name_of("file", options), path,
                                       options.ca_file, path != options.file);
  return shared_credentials(name, [&] {
    return std::make_shared<CredentialSource>(std::move(provider), options.ca_file);
  });
}

Found named_file(const CredentialOptions& options) {
  const std::string path = first_set(options.file, {"GOOGLE_APPLICATION_CREDENTIALS"});
  return path.empty() ? Found(nullptr) : key_file(path, options);
}

Found well_known_file(const CredentialOptions& options) {
  const std::string folder = from_environment("CLOUDSDK_CONFIG");
  // Where `gcloud auth application-default login` puts it.
  constexpr const char* kName = "application_default_credentials.json";
  const std::string parent = folder.empty() ? in_home(".config/gcloud") : folder;
  if (parent.empty()) return Found(nullptr);  // no home folder
  const std::string path = fmt::format("{}/{}", parent, kName);
  return file_exists(path) ? key_file(path, options) : Found(nullptr);
}

Found metadata(const CredentialOptions& options) {
  // Google's variable for another metadata server.
  std::string host = from_environment("GCE_METADATA_HOST");
  if (host.empty()) host = "metadata.google.internal";
  const std::string hint =
      options.from == "auto" ? fmt::format(" (no others are set up: {})", kGoogleSetup) : "";
  const std::string name = fmt::format("{} {}{}", name_of("metadata", options), host, options.from);
  return shared_credentials(name, [&] {
    return std::make_shared<CredentialSource>(metadata_provider(host, hint, options.access),
                                              options.ca_file);
  });
}

}  // namespace

Found google_credentials(const CredentialOptions& options) {
  const std::string& from = options.from;
  if (from == "anonymous") return std::make_shared<CredentialSource>(Credentials());
  // The setting has the ways of both clouds.
  if (from == "web_identity" || from == "container")
    return Status(Code::kInvalidArgument,
                  fmt::format("`credentials: {}` is a way of AWS; {}", from, kGoogleSetup));
  const bool is_auto = from == "auto";
  // `environment` means the variable only; `file` also the file of gcloud.
  if (is_auto || from == "environment" || from == "file") {
    ECHOLINE_ASSIGN(auto found, named_file(options));
    if (found) return found;
  }
  if (is_auto || from == "file") {
    ECHOLINE_ASSIGN(auto found, well_known_file(options));
    if (found) return found;
  }
  if (is_auto || from == "instance") return metadata(options);
  return Status(
      Code::kPermissionDenied,
      fmt::format("`credentials: {}` is not set up on this machine; {}", from, kGoogleSetup));
}

}  // namespace echoline::source
