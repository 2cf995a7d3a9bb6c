// AIP-4117: the subject token is in a file, at an address or the output of a program; Google's
// token service exchanges it by RFC 8693.
#include <fmt/core.h>

#include "source/credentials/command_line.h"
#include "source/credentials/credential_answer.h"
#include "source/credentials/environment.h"
#include "source/credentials/exchange_provider.h"
#include "source/credentials/google_key_file.h"
#include "source/credentials/jwt.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

using Json = nlohmann::json;

// The limits of AIP-4117 for a program, in milliseconds.
constexpr std::int64_t kProgramMs = 30'000;
constexpr std::int64_t kProgramMsMin = 5'000;
constexpr std::int64_t kProgramMsMax = 120'000;

Status denied(std::string text) { return Status(Code::kPermissionDenied, std::move(text)); }

// The subject token as the token of Credentials.
Result<CredentialStep> subject(std::string token) {
  // Editors and shells end files with a newline.
  while (token.ends_with('\n')) token.pop_back();
  if (token.empty()) return denied("there is no subject token");
  return CredentialStep(Credentials{"", "", std::move(token), 0});
}

// Files and addresses: the token itself, or one member of a JSON object.
struct SubjectFormat {
  bool is_json = false;
  std::string field;

  Result<CredentialStep> read(std::string_view text) const {
    // A member that is missing gives no token, and subject() refuses that.
    return subject(is_json ? json_text(text, field.c_str()) : std::string(text));
  }
};

class SubjectFile : public CredentialProvider {
 public:
  SubjectFile(std::string path, SubjectFormat format)
      : path_(std::move(path)), format_(std::move(format)) {}

  Result<CredentialStep> start(std::time_t) override {
    ECHOLINE_ASSIGN(const std::string text, read_text_file(path_));
    return format_.read(text);
  }
  std::string what() const override { return "the subject token in " + path_; }

 private:
  const std::string path_;
  const SubjectFormat format_;
};

class SubjectAddress : public CredentialProvider {
 public:
  SubjectAddress(HttpRequest request, SubjectFormat format)
      : request_(std::move(request)), format_(std::move(format)) {}

  Result<CredentialStep> start(std::time_t) override { return CredentialStep(request_); }
  Result<CredentialStep> answer(const HttpResponse&, std::string_view body, std::time_t) override {
    return format_.read(body);
  }
  std::string what() const override {
    // Without the query: it may contain a secret.
    return "the subject token at " + request_.url.substr(0, request_.url.find('?'));
  }

 private:
  const HttpRequest request_;
  const SubjectFormat format_;
};

// "Executable-sourced credentials". The file for kept answers (output_file) is the program's.
class SubjectProgram : public CredentialProvider {
 public:
  SubjectProgram(ProcessCall call, std::string path) : call_(std::move(call)), path_(path) {}

  Result<CredentialStep> start(std::time_t) override { return CredentialStep(call_); }
  Result<CredentialStep> output(std::string_view text, std::time_t now) override {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return Status(Code::kUnavailable, "the program's output is not JSON");
    if (json.value("version", Json()) != 1)
      return denied("the program's output is not of \"version\": 1");
    // The program's own message is not shown: it could contain a secret.
    if (json.value("success", Json()) != true) return denied("the program reports a failure");
    const Json end = json.value("expiration_time", Json());
    // Google's form allows a program to leave the time out.
    if (end.is_number() && end.get<double>() < static_cast<double>(now))
      return Status(Code::kUnavailable, "the program's token has expired");
    const std::string type = json_text(text, "token_type");
    // SAML tokens are in another member than OpenID tokens.
    return subject(json_text(
        text, type == "urn:ietf:params:oauth:token-type:saml2" ? "saml_response" : "id_token"));
  }
  std::string what() const override { return "the program that " + path_ + " names"; }

 private:
  const ProcessCall call_;
  const std::string path_;
};

class ExternalAccountProvider : public ExchangeProvider {
 public:
  ExternalAccountProvider(GoogleKey key, ProviderPtr token)
      : ExchangeProvider(std::move(token)), key_(std::move(key)) {}

  std::string what() const override { return "key file " + key_.path; }

 protected:
  Result<HttpRequest> request(const Credentials& base, std::time_t) const override {
    NamedValues form = {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                        {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                        {"audience", key_.text("audience")},
                        {"scope", key_.scope},
                        {"subject_token", base.token},
                        {"subject_token_type", key_.text("subject_token_type")}};
    const std::string client = key_.text("client_id");
    const std::string project = key_.text("workforce_pool_user_project");
    // Workforce pools without a client of their own name the project that pays.
    if (client.empty() && !project.empty())
      form.emplace_back("options", json_bytes({{"userProject", project}}));
    ECHOLINE_ASSIGN(HttpRequest request, google_form("token_url", key_.text("token_url"), form));
    // Confidential clients authenticate themselves.
    if (!client.empty())
      request.headers.emplace_back("authorization",
                                   "Basic " + base64(client + ":" + key_.text("client_secret")));
    return request;
  }
  Result<Credentials> exchanged(std::string_view body, std::time_t now) const override {
    return parse_oauth(body, now);
  }
  Status refusal(int status, std::string_view body) const override {
    return credential_refusal(status, json_text(body, "error"));
  }

 private:
  const GoogleKey key_;
};

Result<SubjectFormat> format_of(const GoogleKey& key, const Json& source) {
  SubjectFormat format;
  const Json json = source.value("format", Json::object());
  const std::string type = json.is_object() ? text_member(json, "type") : "";
  // No `format` means text.
  format.is_json = type == "json";
  if (!type.empty() && type != "text" && !format.is_json)
    return key.wrong("has a credential_source of an unknown format; it can be text or json");
  if (format.is_json) format.field = text_member(json, "subject_token_field_name");
  if (format.is_json && format.field.empty())
    return key.wrong("has no subject_token_field_name for the format json");
  return format;
}

// Metadata services of other clouds speak plain http, at link-local addresses.
Result<ProviderPtr> address_of(const GoogleKey& key, const Json& source, SubjectFormat format) {
  HttpRequest request;
  request.url = text_member(source, "url");
  ECHOLINE_ASSIGN(const Endpoint endpoint, endpoint_of_url(request.url));
  if (endpoint.is_insecure() && !endpoint.host.starts_with("169.254."))
    return denied("the subject token could be overheard; use https for the url in " + key.path);
  // A metadata service is on this machine or its host.
  request.bypasses_proxy = endpoint.scheme == "http";
  const Json headers = source.value("headers", Json::object());
  for (const auto& [name, value] : headers.items()) {
    if (!value.is_string()) continue;
    const std::string text = value.get<std::string>();
    // A line break would begin another header.
    if ((name + text).find_first_of("\r\n") != std::string::npos)
      return key.wrong("has a line break in the headers of its credential_source");
    request.headers.emplace_back(name, text);
  }
  return ProviderPtr(std::make_unique<SubjectAddress>(std::move(request), std::move(format)));
}

Result<ProviderPtr> program_of(const GoogleKey& key, const Json& program) {
  // Who may create a stream must not run programs as the daemon's user.
  if (!key.may_run)
    return denied(key.path +
                  " names a program; name the file in the daemon's environment "
                  "(GOOGLE_APPLICATION_CREDENTIALS) instead of read.credentials_file");
  // Google's own libraries want this consent, too.
  if (from_environment("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES") != "1")
    return denied(key.path +
                  " names a program; set GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 to allow it");
  ProcessCall call;
  auto words = split_command_line(text_member(program, "command"));
  if (!words.ok()) return Status(words.status()).with_context(key.path);
  call.arguments = std::move(words).value();
  call.variables = {{"GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE", key.text("audience")},
                    {"GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE", key.text("subject_token_type")},
                    // A daemon cannot answer questions.
                    {"GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE", "0"}};
  if (const std::string file = text_member(program, "output_file"); !file.empty())
    call.variables.emplace_back("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE", file);
  // ".../serviceAccounts/EMAIL:generateAccessToken"
  const std::string url = key.text("service_account_impersonation_url");
  // The program may issue the token for the account that is impersonated later.
  if (!url.empty()) {
    const std::string name = url.substr(url.rfind('/') + 1);
    call.variables.emplace_back("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL",
                                name.substr(0, name.find(':')));
  }
  const Json limit = program.value("timeout_millis", Json());
  // Outside of the limits the nearest one is used.
  const std::int64_t ms = limit.is_number_integer()
                              ? std::clamp(limit.get<std::int64_t>(), kProgramMsMin, kProgramMsMax)
                              : kProgramMs;
  call.timeout_ns = static_cast<std::uint64_t>(ms) * 1'000'000;
  return ProviderPtr(std::make_unique<SubjectProgram>(std::move(call), key.path));
}

Result<ProviderPtr> subject_of(const GoogleKey& key) {
  const Json source = key.object("credential_source");
  if (const Json program = source.value("executable", Json()); program.is_object())
    return program_of(key, program);
  ECHOLINE_ASSIGN(SubjectFormat format, format_of(key, source));
  if (const std::string path = text_member(source, "file"); !path.empty())
    return ProviderPtr(std::make_unique<SubjectFile>(path, std::move(format)));
  // AWS's kind has an address, too, but of another protocol.
  const bool is_aws = source.contains("environment_id");
  if (!is_aws && source.contains("url")) return address_of(key, source, std::move(format));
  return key.wrong(
      fmt::format("has a credential_source of {}, which echoline does not know; it can be a file, "
                  "a url or an executable",
                  is_aws                           ? "AWS (environment_id)"
                  : source.contains("certificate") ? "a certificate"
                                                   : "another kind"));
}

}  // namespace

Result<ProviderPtr> external_account_provider(GoogleKey key) {
  ECHOLINE_ASSIGN(ProviderPtr token, subject_of(key));
  // Checked now, so that a wrong address is found before the first renewal.
  ECHOLINE_TRY(google_form("token_url", key.text("token_url"), {}).status());
  GoogleKey exchange = key;
  const bool impersonates = !key.text("service_account_impersonation_url").empty();
  // The exchanged token then only serves to impersonate, which needs this scope.
  if (impersonates) exchange.scope = kGoogleCloudScope;
  ProviderPtr account =
      std::make_unique<ExternalAccountProvider>(std::move(exchange), std::move(token));
  if (!impersonates) return account;
  return impersonation_provider(std::move(key), std::move(account));
}

}  // namespace echoline::source
