// JSON is parsed without exceptions; every member may be missing or of a wrong type.
#include "source/credentials/credential_answer.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "source/http/store_answer.h"
#include "source/http/xml.h"

namespace echoline::source {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Status not_understood() { return Status(Code::kUnavailable, "its answer is not understood"); }

// An empty field counts as missing. An expiration that cannot be parsed must not mean "never".
Result<Credentials> checked(Credentials credentials, const std::string& expiration) {
  if (credentials.access_key.empty() || credentials.secret_key.empty()) return not_understood();
  if (expiration.empty()) return credentials;
  const auto expires = parse_utc(expiration);
  if (!expires) return not_understood();
  credentials.expires = *expires;
  return credentials;
}

}  // namespace

std::optional<std::time_t> parse_utc(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  if (*rest == '.') do
      ++rest;
    while (*rest >= '0' && *rest <= '9');
  if (std::string_view(rest) != "Z" && std::string_view(rest) != "+00:00") return std::nullopt;
  const std::time_t time = ::timegm(&parts);
  return time > 0 ? std::optional(time) : std::nullopt;
}

Result<Credentials> parse_aws_json(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  return checked(
      {text_of(json, "AccessKeyId"), text_of(json, "SecretAccessKey"), text_of(json, "Token"), 0},
      text_of(json, "Expiration"));
}

Result<Credentials> parse_aws_sts(std::string_view xml) {
  constexpr std::string_view kRoot =
      "AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials/";
  Credentials credentials;
  std::string expiration;
  const Status status = read_xml(xml, [&](std::string_view path, std::string_view text) {
    if (!path.starts_with(kRoot)) return;
    path.remove_prefix(kRoot.size());
    if (path == "AccessKeyId") credentials.access_key = text;
    if (path == "SecretAccessKey") credentials.secret_key = text;
    if (path == "SessionToken") credentials.token = text;
    if (path == "Expiration") expiration = text;
  });
  if (!status.ok()) return not_understood();
  return checked(std::move(credentials), expiration);
}

Result<Credentials> parse_oauth(std::string_view body, std::time_t now) {
  // Bounds the lifetime, so that the sum below cannot overflow.
  constexpr double kSecondsMax = 1e9;
  const Json json = Json::parse(body, nullptr, false);
  Credentials credentials;
  credentials.token = text_of(json, "access_token");
  if (credentials.token.empty()) return not_understood();
  const auto seconds = json.find("expires_in");
  if (seconds == json.end() || !seconds->is_number()) return not_understood();
  const auto count = seconds->get<double>();
  if (!(count > 0) || count > kSecondsMax) return not_understood();
  credentials.expires = now + static_cast<std::time_t>(count);
  return credentials;
}

Status credential_refusal(int status, std::string_view reason) {
  std::string text = fmt::format("it answered {}", status);
  if (!reason.empty()) text += fmt::format(" ({})", printable(reason));
  return Status(retry_by_status(status) ? Code::kUnavailable : Code::kPermissionDenied,
                std::move(text));
}

std::string json_text(std::string_view json, const char* name) {
  return text_of(Json::parse(json, nullptr, false), name);
}

}  // namespace echoline::source
