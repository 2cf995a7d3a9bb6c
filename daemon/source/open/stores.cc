// Settings of the `read` step win over environment variables, whose names are those of the stores'
// own tools.
#include "source/open/stores.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "echoline/v1/config.pb.h"
#include "source/credentials/aws_credentials.h"
#include "source/credentials/environment.h"
#include "source/credentials/google_credentials.h"
#include "source/credentials/hub_credentials.h"
#include "source/http/authorities.h"
#include "source/store/gcs_store.h"
#include "source/store/http_store.h"
#include "source/store/hub_store.h"
#include "source/store/s3_store.h"

namespace echoline::source {
namespace {

using Opened = Result<std::unique_ptr<ObjectStore>>;

CredentialOptions credential_options(const v1::Read& read, Access access,
                                     const std::string& ca_file) {
  CredentialOptions options;
  options.access = access;
  // Not set: "auto", the default of CredentialOptions.
  if (!read.credentials().empty()) options.from = read.credentials();
  options.file = read.credentials_file();
  options.profile = read.profile();
  options.ca_file = ca_file;
  return options;
}

// The setting, then the environment, then the profile, as the AWS tools do.
std::string s3_endpoint(const v1::Read& read, const CredentialOptions& credentials) {
  std::string endpoint = first_set(read.endpoint(), {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  return endpoint.empty() ? aws_profile_setting(credentials, "endpoint_url") : endpoint;
}

Opened open_s3(const v1::Read& read, CredentialOptions credentials) {
  S3Options options;
  options.endpoint = s3_endpoint(read, credentials);
  options.region = first_set(read.region(), {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (options.region.empty()) options.region = aws_profile_setting(credentials, "region");
  // The default of the AWS tools; other stores ignore the region.
  if (options.region.empty()) options.region = "us-east-1";
  if (read.addressing() == "path") options.addressing = Addressing::kPath;
  if (read.addressing() == "virtual") options.addressing = Addressing::kVirtual;
  // The region is part of the signature, and of the address of the token service.
  credentials.region = options.region;
  ECHOLINE_ASSIGN(options.credentials, aws_credentials(credentials));
  return S3Store::open(std::move(options));
}

std::string gcs_endpoint(const v1::Read& read, const CredentialOptions&) {
  const std::string emulator = from_environment("STORAGE_EMULATOR_HOST");
  if (!read.endpoint().empty() || emulator.empty()) return read.endpoint();
  // Google's libraries accept the emulator with and without a scheme.
  const bool has_scheme = emulator.find("://") != std::string::npos;
  return has_scheme ? emulator : "http://" + emulator;
}

// As in Google's own libraries: an emulator (STORAGE_EMULATOR_HOST) needs no credentials, unless
// the `read` step names some.
Opened open_gcs(const v1::Read& read, CredentialOptions credentials) {
  GcsOptions options;
  options.endpoint = gcs_endpoint(read, credentials);
  const bool is_emulator = read.endpoint().empty() && !options.endpoint.empty();
  if (is_emulator && credentials.from == "auto" && credentials.file.empty()) {
    credentials.from = "anonymous";
  }
  ECHOLINE_ASSIGN(options.credentials, google_credentials(credentials));
  return GcsStore::open(std::move(options));
}

std::string hub_endpoint(const v1::Read& read, const CredentialOptions&) {
  return first_set(read.endpoint(), {"HF_ENDPOINT"});
}

Opened open_hub(const v1::Read& read, CredentialOptions credentials) {
  // A client error before any request is sent.
  if (credentials.access == Access::kWrite)
    return Status(Code::kUnimplemented,
                  fmt::format("{}: nothing can be written to the Hub, where each write would be a "
                              "commit; keep the index in `state_dir`",
                              read.url(0)));
  HubOptions options;
  options.endpoint = hub_endpoint(read, credentials);
  ECHOLINE_ASSIGN(options.credentials, hub_credentials(credentials));
  return HubStore::open(std::move(options));
}

std::string no_endpoint(const v1::Read&, const CredentialOptions&) { return {}; }

Opened open_http(const v1::Read& read, CredentialOptions credentials) {
  // A client error before any request is sent.
  if (credentials.access == Access::kWrite)
    return Status(Code::kUnimplemented,
                  fmt::format("{}: nothing can be written to a web server; write to the files or "
                              "the bucket that it serves",
                              read.url(0)));
  // Settings that would have no effect are refused, so that nobody relies on them.
  for (const auto& [name, is_set] :
       {std::pair{"endpoint", !read.endpoint().empty()},
        {"credentials", credentials.from != "auto" && credentials.from != "anonymous"},
        {"credentials_file", !credentials.file.empty()}})
    if (is_set)
      return Status(
          Code::kInvalidArgument,
          fmt::format("`{}` does not apply to http addresses, which are read without credentials",
                      name));
  return std::unique_ptr<ObjectStore>(std::make_unique<HttpStore>());
}

// To add a store: write its class in source/store, and add one line here (and its scheme to
// base/scheme.h).
struct StoreKind {
  Scheme scheme;
  Opened (*open)(const v1::Read& read, CredentialOptions credentials);
  std::string (*endpoint)(const v1::Read& read, const CredentialOptions& credentials);
  bool etag_is_md5;  // of objects that were uploaded in one part
};

constexpr StoreKind kStores[] = {
    {Scheme::kS3, open_s3, s3_endpoint, true},
    {Scheme::kGcs, open_gcs, gcs_endpoint, false},
    {Scheme::kHttp, open_http, no_endpoint, false},
    {Scheme::kHub, open_hub, hub_endpoint, false},
};

const StoreKind& kind_of(Scheme scheme) {
  const auto* const kind =
      std::find_if(std::begin(kStores), std::end(kStores),
                   [scheme](const StoreKind& known) { return known.scheme == scheme; });
  ECHOLINE_CHECK(kind != std::end(kStores));
  return *kind;
}

}  // namespace

std::string endpoint_of(const v1::Read& read, Scheme scheme) {
  return kind_of(scheme).endpoint(read, credential_options(read, Access::kRead, ""));
}

Result<OpenedStore> open_store(const v1::Read& read, Scheme scheme, Access access) {
  OpenedStore opened;
  opened.ca_file = first_set(read.ca_file(), {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"});
  if (!opened.ca_file.empty()) {
    // Read once now: libcurl would report a missing file at each request.
    if (Status status = read_text_file(opened.ca_file).status(); !status.ok())
      return std::move(status).with_context("ca_file");
  } else {
    opened.ca_file = authorities_of_system();
  }
  CredentialOptions credentials = credential_options(read, access, opened.ca_file);
  const StoreKind& kind = kind_of(scheme);
  ECHOLINE_ASSIGN(opened.store, kind.open(read, std::move(credentials)));
  opened.etag_is_md5 = kind.etag_is_md5;
  return opened;
}

}  // namespace echoline::source
