// A method returns an empty pointer if it is not configured, and an error if its configuration is
// wrong.
#include "source/credentials/aws_credentials.h"

#include <fmt/core.h>

#include "source/credentials/aws_providers.h"
#include "source/credentials/environment.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

using Found = Result<std::shared_ptr<CredentialSource>>;

constexpr std::string_view kAwsSetup =
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws/credentials, or "
    "`credentials: anonymous` for a public bucket";

constexpr std::string_view kVariables =
    "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN)";

Status missing(std::string text) { return Status(Code::kPermissionDenied, std::move(text)); }

AwsFiles files_of(const CredentialOptions& options) {
  AwsFiles files{first_set(options.file, {"AWS_SHARED_CREDENTIALS_FILE"}),
                 from_environment("AWS_CONFIG_FILE")};
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

Found environment(const CredentialOptions&) {
  Credentials credentials{from_environment("AWS_ACCESS_KEY_ID"),
                          from_environment("AWS_SECRET_ACCESS_KEY"),
                          from_environment("AWS_SESSION_TOKEN"), 0};
  if (credentials.access_key.empty() && credentials.secret_key.empty()) return Found(nullptr);
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return missing(fmt::format(
        "{} is not set; {}",
        credentials.access_key.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY", kAwsSetup));
  return std::make_shared<CredentialSource>(std::move(credentials), std::string(kVariables));
}

std::string sts_endpoint(const CredentialOptions& options) {
  const std::string set = from_environment({"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"});
  if (!set.empty()) return set.ends_with('/') ? set.substr(0, set.size() - 1) : set;
  return fmt::format("https://sts.{}.amazonaws.com{}", options.region,
                     options.region.starts_with("cn-") ? ".cn" : "");
}

// The request contains a token, so plain http to another machine is refused.
Found assume(const CredentialOptions& options, WebIdentity identity) {
  identity.endpoint = sts_endpoint(options);
  ECHOLINE_ASSIGN(const Endpoint endpoint, parse_endpoint(identity.endpoint));
  if (endpoint.is_insecure())
    return missing(fmt::format("{} could be overheard; use https for AWS_ENDPOINT_URL_STS",
                               identity.endpoint));
  const std::string key = fmt::format("aws role {} {} {} {}", identity.endpoint, identity.role,
                                      identity.token_file, options.ca_file);
  return shared_credentials(key, [&] {
    return std::make_shared<CredentialSource>(web_identity_provider(identity), options.ca_file);
  });
}

std::string session_name(const std::string& set) { return set.empty() ? "echoline" : set; }

// Profiles can name other methods; those that need a program or an interactive login are not
// supported.
Found from_settings(const CredentialOptions& options, Settings settings, const AwsFiles& files,
                    const std::string& name) {
  if (settings.contains("aws_access_key_id") || settings.contains("aws_secret_access_key"))
    return shared_credentials(
        fmt::format("aws profile {} {} {}", name, files.credentials, files.config), [&] {
          return std::make_shared<CredentialSource>(profile_provider(files, name), options.ca_file);
        });
  if (settings.contains("web_identity_token_file") && settings.contains("role_arn"))
    return assume(options, {"", settings["role_arn"], session_name(settings["role_session_name"]),
                            settings["web_identity_token_file"]});
  for (const char* method : {"credential_process", "source_profile", "credential_source",
                             "sso_session", "sso_start_url", "login_session"})
    if (settings.contains(method))
      return missing(
          fmt::format("profile {} gets its credentials by {}, which echoline does not "
                      "do; put keys or a web identity in it, or start the daemon with "
                      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
                      name, method));
  return Found(nullptr);
}

// The path for a message. Only shells expand ~, so a ~ here is a mistake.
std::string described(const std::string& path) {
  if (file_exists(path)) return path;
  return fmt::format("{} (no such file{})", path,
                     path.starts_with('~') ? "; write the home folder out for ~" : "");
}

Found profile(const CredentialOptions& options) {
  const AwsFiles files = files_of(options);
  const std::string name = profile_of(options);
  if (!options.file.empty() && !file_exists(options.file))
    return missing(fmt::format("credentials_file {}", described(options.file)));
  ECHOLINE_ASSIGN(Settings settings, read_profile(files, name));
  const bool is_named = name != "default" || is_explicit(options);
  if (settings.empty() && is_named)
    return missing(fmt::format("there is no profile {} in {} or {}", name,
                               described(files.credentials), described(files.config)));
  ECHOLINE_ASSIGN(auto found, from_settings(options, std::move(settings), files, name));
  if (!found && is_explicit(options))
    return missing(
        fmt::format("profile {} holds no credentials; put aws_access_key_id and "
                    "aws_secret_access_key below [{}] in {}",
                    name, name, described(files.credentials)));
  return found;
}

Found web_identity(const CredentialOptions& options) {
  WebIdentity identity;
  identity.token_file = from_environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  identity.role = from_environment("AWS_ROLE_ARN");
  identity.session = session_name(from_environment("AWS_ROLE_SESSION_NAME"));
  if (identity.token_file.empty()) return Found(nullptr);
  if (identity.role.empty())
    return missing("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
  return assume(options, std::move(identity));
}

// AWS serves container credentials over plain http at these addresses only.
bool is_container_host(const Endpoint& endpoint) {
  return !endpoint.is_insecure() || endpoint.host == "169.254.170.2" ||
         endpoint.host == "169.254.170.23" || endpoint.host == "[fd00:ec2::23]";
}

Found container(const CredentialOptions& options) {
  ContainerService service;
  service.url = from_environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const std::string relative = from_environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  if (!relative.empty()) service.url = "http://169.254.170.2" + relative;
  if (service.url.empty()) return Found(nullptr);
  ECHOLINE_ASSIGN(const Endpoint endpoint, endpoint_of_url(service.url));
  if (!is_container_host(endpoint))
    return missing("AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this machine");
  service.token_file = from_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  service.token = from_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string key =
      fmt::format("aws container {} {} {}", service.url, service.token_file, options.ca_file);
  return shared_credentials(key, [&] {
    return std::make_shared<CredentialSource>(container_provider(service), options.ca_file);
  });
}

Found instance(const CredentialOptions& options) {
  if (from_environment("AWS_EC2_METADATA_DISABLED") == "true") return Found(nullptr);
  std::string endpoint = from_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (endpoint.empty())
    endpoint = from_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") == "IPv6"
                   ? "http://[fd00:ec2::254]"
                   : "http://169.254.169.254";
  ECHOLINE_ASSIGN(const Endpoint parsed, parse_endpoint(endpoint));
  const std::string hint =
      options.from == "auto" ? fmt::format(" (no others are set up: {})", kAwsSetup) : "";
  return shared_credentials("aws instance " + parsed.url() + options.from, [&] {
    return std::make_shared<CredentialSource>(instance_provider(parsed.url(), hint),
                                              options.ca_file);
  });
}

struct Method {
  std::string_view name;
  Found (*find)(const CredentialOptions&);
};

constexpr Method kMethods[] = {{"environment", environment},
                               {"file", profile},
                               {"web_identity", web_identity},
                               {"container", container},
                               {"instance", instance}};

}  // namespace

Found aws_credentials(const CredentialOptions& options) {
  if (options.from == "anonymous") return std::make_shared<CredentialSource>(Credentials());
  const bool is_auto = options.from == "auto";
  // An explicit profile wins over the environment.
  const bool wants_profile = is_auto && is_explicit(options);
  for (const Method& method : kMethods) {
    if (wants_profile ? method.name != "file" : !is_auto && method.name != options.from) continue;
    ECHOLINE_ASSIGN(auto found, method.find(options));
    if (found) return found;
  }
  return missing(is_auto ? fmt::format("no credentials are set up; {}", kAwsSetup)
                         : fmt::format("`credentials: {}` is not set up on this machine; {}",
                                       options.from, kAwsSetup));
}

std::string aws_profile_setting(const CredentialOptions& options, const std::string& name) {
  auto settings = read_profile(files_of(options), profile_of(options));
  return settings.ok() ? (*settings)[name] : std::string();
}

}  // namespace echoline::source
