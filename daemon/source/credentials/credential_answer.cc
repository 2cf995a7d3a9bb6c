// JSON is parsed without exceptions; every member may be missing or of a wrong type.
#include "source/credentials/credential_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "source/credentials/json_members.h"
#include "source/http/store_answer.h"
#include "source/http/xml.h"

namespace echoline::source {
namespace {

using Json = nlohmann::json;

constexpr double kTimeMax = 1e11;  // seconds since 1970: before this, a sum does not overflow

Status not_understood() { return Status(Code::kUnavailable, "its answer is not understood"); }

// An empty field counts as missing. An expiration that cannot be parsed must not mean "never".
Result<Credentials> checked(Credentials credentials, const std::string& expiration) {
  // Both are needed for a signature.
  if (credentials.access_key.empty() || credentials.secret_key.empty()) return not_understood();
  if (expiration.empty()) return credentials;
  const auto expires = parse_utc(expiration);
  if (!expires) return not_understood();
  credentials.expires = *expires;
  return credentials;
}

// The end of a time: "Z", "UTC" (old AWS tools), "+01:00" or "+0100".
std::optional<std::time_t> offset_seconds(std::string_view text) {
  if (text == "Z" || text == "UTC") return 0;
  // With the colon removed, both forms are equal.
  if (text.size() == 6 && text[3] == ':') return offset_seconds(std::string(text).erase(3, 1));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 5 || (text[0] != '+' && text[0] != '-') ||
      !std::all_of(text.begin() + 1, text.end(), is_digit))
    return std::nullopt;
  // Two digits at this place.
  const auto number = [text](std::size_t at) { return (text[at] - '0') * 10 + text[at + 1] - '0'; };
  const std::time_t seconds = number(1) * 3600 + number(3) * 60;
  return text[0] == '-' ? -seconds : seconds;
}

// AWS's usual names of keys, with another one for the session token.
Result<Credentials> parse_keys(const Json& json, const char* token) {
  return checked({text_member(json, "AccessKeyId"), text_member(json, "SecretAccessKey"),
                  text_member(json, token), 0},
                 text_member(json, "Expiration"));
}

}  // namespace

std::optional<std::time_t> parse_utc(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  // Fractions of a second are left out.
  if (*rest == '.') do
      ++rest;
    while (*rest >= '0' && *rest <= '9');
  const auto offset = offset_seconds(rest);
  if (!offset) return std::nullopt;
  // An offset of +01:00 means that UTC is one hour earlier.
  const std::time_t time = ::timegm(&parts) - *offset;
  return time > 0 ? std::optional(time) : std::nullopt;
}

Result<Credentials> parse_aws_json(std::string_view body) {
  return parse_keys(Json::parse(body, nullptr, false), "Token");
}

Result<Credentials> parse_aws_process(std::string_view output) {
  // Without exceptions; for text that is not JSON the result is no object.
  const Json json = Json::parse(output, nullptr, false);
  if (!json.is_object()) return Status(Code::kUnavailable, "the program's output is not JSON");
  const auto version = json.find("Version");
  // Other versions may mean other things by the same names.
  if (version == json.end() || *version != 1)
    return Status(Code::kPermissionDenied, "the program's output is not of \"Version\": 1");
  return parse_keys(json, "SessionToken");
}

Result<Credentials> parse_aws_sso(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return not_understood();
  const Json role = json.value("roleCredentials", Json());
  const Json end = role.is_object() ? role.value("expiration", Json()) : Json();
  if (!end.is_number()) return not_understood();
  // Milliseconds, unlike all other services.
  const double seconds = end.get<double>() / 1000;
  // Written so that NaN is refused, too.
  if (!(seconds > 0) || seconds > kTimeMax) return not_understood();
  return checked({text_member(role, "accessKeyId"), text_member(role, "secretAccessKey"),
                  text_member(role, "sessionToken"), static_cast<std::time_t>(seconds)},
                 "");
}

std::string aws_sts_error(std::string_view xml) {
  std::string code;
  const Status read = read_xml(xml, [&code](std::string_view path, std::string_view text) {
    if (path == "ErrorResponse/Error/Code") code = text;
  });
  return read.ok() ? code : "";
}

Result<Credentials> parse_aws_sts(std::string_view xml, const std::string& action) {
  // The element names repeat the action.
  const std::string root = fmt::format("{0}Response/{0}Result/Credentials/", action);
  Credentials credentials;
  std::string expiration;
  const Status status = read_xml(xml, [&](std::string_view path, std::string_view text) {
    if (!path.starts_with(root)) return;
    path.remove_prefix(root.size());
    if (path == "AccessKeyId") credentials.access_key = text;
    if (path == "SecretAccessKey") credentials.secret_key = text;
    if (path == "SessionToken") credentials.token = text;
    if (path == "Expiration") expiration = text;
  });
  // A part of the document is not trusted.
  if (!status.ok()) return not_understood();
  return checked(std::move(credentials), expiration);
}

Result<Credentials> parse_google_impersonation(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  Credentials credentials;
  credentials.token = text_member(json, "accessToken");
  // A token without an end is not accepted here, because Google always sends one.
  const auto expires = parse_utc(text_member(json, "expireTime"));
  if (credentials.token.empty() || !expires) return not_understood();
  credentials.expires = *expires;
  return credentials;
}

Result<Credentials> parse_oauth(std::string_view body, std::time_t now) {
  // Bounds the lifetime, so that the sum below cannot overflow.
  constexpr double kSecondsMax = 1e9;
  const Json json = Json::parse(body, nullptr, false);
  Credentials credentials;
  credentials.token = text_member(json, "access_token");
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
  // Server errors may pass; a refusal needs another configuration.
  return Status(retry_by_status(status) ? Code::kUnavailable : Code::kPermissionDenied,
                std::move(text));
}

std::string json_text(std::string_view json, const char* name) {
  return text_member(Json::parse(json, nullptr, false), name);
}

}  // namespace echoline::source
