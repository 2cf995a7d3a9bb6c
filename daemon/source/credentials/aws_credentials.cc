// A method returns an empty pointer if it is not configured, and an error if its configuration is
// wrong.
#include "source/credentials/aws_credentials.h"

#include <fmt/core.h>

#include "source/credentials/aws_environment.h"
#include "source/credentials/aws_profile.h"
#include "source/credentials/aws_profile_chain.h"
#include "source/credentials/environment.h"
#include "source/credentials/reread_provider.h"

namespace echoline::source {
namespace {

using Found = Result<std::shared_ptr<CredentialSource>>;

// The code of all errors about configured credentials: a retry does not help.
Status missing(std::string text) { return Status(Code::kPermissionDenied, std::move(text)); }

AwsFiles files_of(const CredentialOptions& options) {
  AwsFiles files{first_set(options.file, {"AWS_SHARED_CREDENTIALS_FILE"}),
                 from_environment("AWS_CONFIG_FILE")};
  // The setting, then the environment, then the home folder of the daemon's user.
  if (files.credentials.empty()) files.credentials = in_home(".aws/credentials");
  if (files.config.empty()) files.config = in_home(".aws/config");
  return files;
}

std::string profile_of(const CredentialOptions& options) {
  const std::string name = first_set(options.profile, {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  return name.empty() ? "default" : name;
}

// The `read` step names a profile or a file, so no other method may replace it.
bool is_explicit(const CredentialOptions& options) {
  return !options.profile.empty() || !options.file.empty();
}

// The set of this provider that all streams share.
Found shared(Result<ProviderPtr> provider, const CredentialOptions& options) {
  if (!provider.ok()) return provider.status();
  // This method is not configured.
  if (provider.value() == nullptr) return Found(nullptr);
  // what() names the origin and contains no secret, so it can be the key.
  const std::string key = fmt::format("aws {} {}", provider.value()->what(), options.ca_file);
  return shared_credentials(key, [&] {
    return std::make_shared<CredentialSource>(std::move(provider).value(), options.ca_file);
  });
}

// Not shared: the environment does not change, so there is nothing to renew.
Found environment(const CredentialOptions&) {
  ECHOLINE_ASSIGN(auto keys, keys_of_environment());
  if (!keys) return Found(nullptr);
  return std::make_shared<CredentialSource>(std::move(*keys), kAwsVariables);
}

// The path for a message. Only shells expand ~, so a ~ here is a mistake.
std::string described(const std::string& path) {
  if (file_exists(path)) return path;
  return fmt::format("{} (no such file{})", path,
                     path.starts_with('~') ? "; write the home folder out for ~" : "");
}

Status holds_none(const std::string& name, const std::string& file) {
  return missing(
      fmt::format("profile {} holds no credentials; put aws_access_key_id and "
                  "aws_secret_access_key below [{}] in {}",
                  name, name, file));
}

Found profile(const CredentialOptions& options) {
  const AwsFiles files = files_of(options);
  const std::string name = profile_of(options);
  if (!options.file.empty() && !file_exists(options.file))
    return missing(fmt::format("credentials_file {}", described(options.file)));
  // Read now to see whether the profile exists; provider and reread read it again.
  ECHOLINE_ASSIGN(const Settings settings, read_profile(files, name));
  // Without a name, a missing profile only means that this method is not configured.
  const bool is_named = name != "default" || is_explicit(options);
  if (settings.empty() && is_named)
    return missing(fmt::format("there is no profile {} in {} or {}", name,
                               described(files.credentials), described(files.config)));
  const AwsProfiles profiles{files, options.region, options.file.empty()};
  ECHOLINE_ASSIGN(ProviderPtr provider, profile_provider(profiles, name));
  if (!provider && is_explicit(options)) return holds_none(name, described(files.credentials));
  if (!provider) return Found(nullptr);
  // Everything that the provider depends on. Streams with the same key share renewals.
  const std::string key =
      fmt::format("aws profile {} {} {} {} {} {}", name, files.credentials, files.config,
                  options.region, options.ca_file, options.file.empty());
  return shared_credentials(key, [&] {
    const auto read = [profiles, name]() -> Result<ProviderPtr> {
      // At each renewal: the file may have other keys by then, or another way to them.
      ECHOLINE_ASSIGN(ProviderPtr again, profile_provider(profiles, name));
      if (!again) return holds_none(name, profiles.files.credentials);
      return again;
    };
    return std::make_shared<CredentialSource>(
        std::make_unique<RereadProvider>(std::move(provider), read), options.ca_file);
  });
}

Found web_identity(const CredentialOptions& options) {
  return shared(web_identity_of_environment(options.region), options);
}

Found container(const CredentialOptions& options) {
  return shared(container_of_environment(), options);
}

Found instance(const CredentialOptions& options) {
  // Only with `auto` the message says what else could be set up.
  return shared(instance_of_environment(options.from == "auto"
                                            ? fmt::format(" (no others are set up: {})", kAwsSetup)
                                            : ""),
                options);
}

struct Method {
  std::string_view name;
  Found (*find)(const CredentialOptions&);
};

// Within a profile, profile_provider() has the order.
constexpr Method kMethods[] = {{"environment", environment},
                               {"file", profile},
                               {"web_identity", web_identity},
                               {"container", container},
                               {"instance", instance}};

}  // namespace

Found aws_credentials(const CredentialOptions& options) {
  if (options.from == "anonymous") return std::make_shared<CredentialSource>(Credentials());
  const bool is_auto = options.from == "auto";
  // Else a variable of the daemon would replace the profile that the stream names.
  // An explicit profile wins over the environment.
  const bool wants_profile = is_auto && is_explicit(options);
  for (const Method& method : kMethods) {
    // A method that is named is the only one; `auto` tries all in order.
    if (wants_profile ? method.name != "file" : !is_auto && method.name != options.from) continue;
    ECHOLINE_ASSIGN(auto found, method.find(options));
    if (found) return found;
  }
  return missing(is_auto ? fmt::format("no credentials are set up; {}", kAwsSetup)
                         : fmt::format("`credentials: {}` is not set up on this machine; {}",
                                       options.from, kAwsSetup));
}

std::string aws_profile_setting(const CredentialOptions& options, const std::string& name) {
  // Errors of the files are reported by aws_credentials.
  auto settings = read_profile(files_of(options), profile_of(options));
  return settings.ok() ? (*settings)[name] : std::string();
}

}  // namespace echoline::source
