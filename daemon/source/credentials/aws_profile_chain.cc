// "AWS SDKs and Tools Reference Guide": assume role, IAM Identity Center and process credential
// providers. Where it leaves the order of the ways open, it is that of the AWS CLI.
#include "source/credentials/aws_profile_chain.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "source/credentials/aws_environment.h"
#include "source/credentials/aws_providers.h"

namespace echoline::source {
namespace {

// A longer chain is a mistake; each role costs a request.
constexpr std::size_t kRolesMax = 10;
// The limits of STS.
constexpr unsigned long kRoleSecondsMin = 900;
constexpr unsigned long kRoleSecondsMax = 43200;

struct Profile {
  // Settings that the credentials file has and the config file too are those of the credentials
  // file.
  std::string name;
  Settings settings;  // of both files
  bool has_keys_in_credentials_file = false;
  bool has_process_in_credentials_file = false;

  bool has(const char* setting) const { return settings.contains(setting); }
  bool has_keys() const { return has("aws_access_key_id") || has("aws_secret_access_key"); }
  std::string get(const char* setting) const {
    const auto found = settings.find(setting);
    return found == settings.end() ? std::string() : found->second;
  }
  Status wrong(std::string_view text) const {
    return Status(Code::kPermissionDenied, fmt::format("profile {} {}", name, text));
  }
};

// Follows profiles from role to role.
class ProfileChain {
 public:
  explicit ProfileChain(const AwsProfiles& profiles) : profiles_(profiles) {}

  Result<ProviderPtr> provider_of(const std::string& name);

 private:
  using Way = Result<ProviderPtr> (ProfileChain::*)(const Profile&);
  static const Way kWays[];

  // Each returns null if the profile does not describe it.
  Result<ProviderPtr> role(const Profile& profile);
  Result<ProviderPtr> web_identity(const Profile& profile);
  Result<ProviderPtr> sign_on(const Profile& profile);
  Result<ProviderPtr> keys_in_credentials_file(const Profile& profile);
  Result<ProviderPtr> login(const Profile& profile);
  Result<ProviderPtr> process(const Profile& profile);
  Result<ProviderPtr> keys_in_config_file(const Profile& profile);

  Result<Profile> read(const std::string& name) const;
  Result<ProviderPtr> keys(const Profile& profile) const;
  Result<ProviderPtr> base_of(const Profile& profile);
  Result<ProviderPtr> source_profile(const Profile& profile, const std::string& source);

  const AwsProfiles& profiles_;
  std::vector<std::string> names_;  // from the first profile to this one
};

const ProfileChain::Way ProfileChain::kWays[] = {&ProfileChain::role,
                                                 &ProfileChain::web_identity,
                                                 &ProfileChain::sign_on,
                                                 &ProfileChain::keys_in_credentials_file,
                                                 &ProfileChain::login,
                                                 &ProfileChain::process,
                                                 &ProfileChain::keys_in_config_file};

// Reads the credentials file a second time, on its own, to know which settings come from it.
Result<Profile> ProfileChain::read(const std::string& name) const {
  Profile profile;
  profile.name = name;
  ECHOLINE_ASSIGN(profile.settings, read_profile(profiles_.files, name));
  ECHOLINE_ASSIGN(const Settings own, read_profile({profiles_.files.credentials, ""}, name));
  profile.has_keys_in_credentials_file =
      own.contains("aws_access_key_id") || own.contains("aws_secret_access_key");
  profile.has_process_in_credentials_file = own.contains("credential_process");
  return profile;
}

Result<ProviderPtr> ProfileChain::provider_of(const std::string& name) {
  // The names so far find circles.
  names_.push_back(name);
  ECHOLINE_ASSIGN(const Profile profile, read(name));
  // The keys of a source profile are its own, even if it is a role, too.
  const bool skips_role = names_.size() > 1 && profile.has_keys();
  for (const Way way : kWays) {
    if (way == &ProfileChain::role && skips_role) continue;
    ECHOLINE_ASSIGN(ProviderPtr found, (this->*way)(profile));
    if (found) return found;
    // Null: the profile describes no way.
  }
  return ProviderPtr();
}

Result<ProviderPtr> ProfileChain::keys(const Profile& profile) const {
  Credentials credentials{profile.get("aws_access_key_id"), profile.get("aws_secret_access_key"),
                          profile.get("aws_session_token"), 0};
  // One of two is a mistake, not another way.
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return profile.wrong("needs both aws_access_key_id and aws_secret_access_key");
  const std::string& file =
      profile.has_keys_in_credentials_file ? profiles_.files.credentials : profiles_.files.config;
  return fixed_provider(std::move(credentials),
                        fmt::format("profile {} in {}", profile.name, file));
}

Result<ProviderPtr> ProfileChain::keys_in_credentials_file(const Profile& profile) {
  return profile.has_keys_in_credentials_file ? keys(profile) : ProviderPtr();
}

Result<ProviderPtr> ProfileChain::keys_in_config_file(const Profile& profile) {
  return profile.has_keys() ? keys(profile) : ProviderPtr();
}

Result<ProviderPtr> ProfileChain::web_identity(const Profile& profile) {
  WebIdentity identity;
  identity.token_file = profile.get("web_identity_token_file");
  identity.role = profile.get("role_arn");
  identity.session = profile.get("role_session_name");
  if (identity.token_file.empty()) return ProviderPtr();
  if (identity.role.empty()) return profile.wrong("has a web_identity_token_file, but no role_arn");
  if (identity.session.empty()) identity.session = kDefaultSession;
  ECHOLINE_ASSIGN(identity.endpoint, aws_endpoint("AWS_ENDPOINT_URL_STS", "sts", profiles_.region));
  return web_identity_provider(std::move(identity));
}

Result<ProviderPtr> ProfileChain::role(const Profile& profile) {
  // With a token file the role is that of the web identity.
  if (!profile.has("role_arn") || profile.has("web_identity_token_file")) return ProviderPtr();
  AssumedRole role;
  role.role = profile.get("role_arn");
  role.region = profiles_.region;
  role.session = profile.get("role_session_name");
  if (role.session.empty()) role.session = kDefaultSession;
  role.external_id = profile.get("external_id");
  role.duration_seconds = profile.get("duration_seconds");
  if (profile.has("mfa_serial"))
    // A daemon has nobody to ask.
    return profile.wrong("needs a code that a person types (mfa_serial), which a daemon cannot do");
  const unsigned long seconds = std::strtoul(role.duration_seconds.c_str(), nullptr, 10);
  const bool is_number = std::all_of(role.duration_seconds.begin(), role.duration_seconds.end(),
                                     [](char c) { return c >= '0' && c <= '9'; });
  if (!role.duration_seconds.empty() &&
      (!is_number || seconds < kRoleSecondsMin || seconds > kRoleSecondsMax))
    return profile.wrong("has a duration_seconds that is not a number from 900 to 43200");
  ECHOLINE_ASSIGN(role.endpoint, aws_endpoint("AWS_ENDPOINT_URL_STS", "sts", profiles_.region));
  ECHOLINE_ASSIGN(ProviderPtr base, base_of(profile));
  return role_provider(std::move(role), std::move(base));
}

Result<ProviderPtr> ProfileChain::base_of(const Profile& profile) {
  const std::string source = profile.get("source_profile");
  const std::string kind = profile.get("credential_source");
  // Both or none of them.
  if (source.empty() == kind.empty())
    return profile.wrong("has a role_arn, so it needs either source_profile or credential_source");
  if (!source.empty()) return source_profile(profile, source);
  ProviderPtr found;
  // The environment of the daemon, as everywhere.
  if (kind == "Environment") {
    ECHOLINE_ASSIGN(const auto keys, keys_of_environment());
    if (keys) found = fixed_provider(*keys, kAwsVariables);
  } else if (kind == "Ec2InstanceMetadata") {
    ECHOLINE_ASSIGN(found, instance_of_environment(""));
  } else if (kind == "EcsContainer") {
    ECHOLINE_ASSIGN(found, container_of_environment());
  } else {
    return profile.wrong(
        "has an unknown credential_source; it can be Environment, Ec2InstanceMetadata or "
        "EcsContainer");
  }
  if (!found)
    return profile.wrong(fmt::format("has credential_source {}, which is not set up", kind));
  return found;
}

Result<ProviderPtr> ProfileChain::source_profile(const Profile& profile,
                                                 const std::string& source) {
  // A profile may be its own source: its keys assume its role.
  if (source == profile.name && profile.has_keys()) return keys(profile);
  const bool is_circle = std::find(names_.begin(), names_.end(), source) != names_.end();
  if (is_circle || names_.size() == kRolesMax)
    return profile.wrong(fmt::format(
        "{}: {} -> {}",
        is_circle ? "is its own source_profile" : "is the last of too many roles in a row",
        fmt::join(names_, " -> "), source));
  // May be a role again: the chain grows by one.
  ECHOLINE_ASSIGN(ProviderPtr found, provider_of(source));
  if (!found)
    return profile.wrong(
        fmt::format("names the source_profile {}, which has no credentials in {} "
                    "or {}",
                    source, profiles_.files.credentials, profiles_.files.config));
  return found;
}

Result<ProviderPtr> ProfileChain::sign_on(const Profile& profile) {
  if (!profile.has("sso_account_id") && !profile.has("sso_role_name")) return ProviderPtr();
  const std::string session = profile.get("sso_session");
  // The profile's own settings and those of its session must agree.
  Settings settings = profile.settings;
  if (!session.empty()) {
    ECHOLINE_ASSIGN(Settings own, read_sso_session(profiles_.files, session));
    if (own.empty())
      return profile.wrong(fmt::format("names the sso_session {}, but {} has no [sso-session {}]",
                                       session, profiles_.files.config, session));
    for (const auto& [name, value] : own)
      if (!settings.emplace(name, value).second && settings[name] != value)
        return profile.wrong(fmt::format("has another {} than its sso_session", name));
  }
  for (const char* needed : {"sso_account_id", "sso_role_name", "sso_start_url", "sso_region"})
    if (settings[needed].empty()) return profile.wrong(fmt::format("has no {}", needed));
  SignOn login;
  const std::string& region = settings["sso_region"];
  ECHOLINE_ASSIGN(login.portal, aws_endpoint("AWS_ENDPOINT_URL_SSO", "portal.sso", region));
  ECHOLINE_ASSIGN(login.oidc, aws_endpoint("AWS_ENDPOINT_URL_SSO_OIDC", "oidc", region));
  // Names the file in which `aws sso login` keeps the token.
  login.login = session.empty() ? settings["sso_start_url"] : session;
  login.renewable = !session.empty();
  login.account = settings["sso_account_id"];
  login.role = settings["sso_role_name"];
  return sign_on_provider(std::move(login));
}

// Ways that echoline does not know. Refused only if no later way would work.
Result<ProviderPtr> ProfileChain::login(const Profile& profile) {
  for (const char* way : {"login_session", "sso_session", "sso_start_url"})
    if (profile.has(way) && !profile.has("credential_process") && !profile.has_keys())
      return profile.wrong(fmt::format(
          "gets its credentials by {}, which echoline does not do; use sso_account_id and "
          "sso_role_name, or credential_process",
          way));
  return ProviderPtr();
}

Result<ProviderPtr> ProfileChain::process(const Profile& profile) {
  if (!profile.has("credential_process")) return ProviderPtr();
  // Who may create a stream must not run programs as the daemon's user.
  if (profile.has_process_in_credentials_file && !profiles_.credentials_file_may_run)
    return profile.wrong(
        "has a credential_process in read.credentials_file, which must not name programs; name the "
        "file in the daemon's environment (AWS_SHARED_CREDENTIALS_FILE)");
  return process_provider(profile.get("credential_process"),
                          fmt::format("the credential_process of profile {}", profile.name));
}

}  // namespace

Result<ProviderPtr> profile_provider(const AwsProfiles& profiles, const std::string& name) {
  return ProfileChain(profiles).provider_of(name);
}

}  // namespace echoline::source
