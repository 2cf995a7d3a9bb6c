#include "serve/control/control_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_context.h>

#include <atomic>
#include <utility>

#include "base/mutex.h"
#include "serve/control/control_service.h"

namespace echoline::serve {
namespace {

std::string_view text_of(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

std::string_view method_of(const grpc_metadata* metadata, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    // gRPC has the path of the call, "/package.Service/Method", in this pseudo header.
    if (text_of(metadata[i].key) == ":path") return text_of(metadata[i].value);
  }
  return "";
}

std::vector<std::string> names_of(const grpc_auth_context* context) {
  // The prefixes that daemon.control uses for the kinds of names.
  constexpr std::pair<const char*, const char*> kKinds[] = {
      {GRPC_X509_CN_PROPERTY_NAME, "CN="},
      {GRPC_PEER_DNS_PROPERTY_NAME, "DNS:"},
      {GRPC_PEER_URI_PROPERTY_NAME, "URI:"},
      {GRPC_PEER_EMAIL_PROPERTY_NAME, "email:"}};
  std::vector<std::string> names;
  for (const auto& [property, prefix] : kKinds) {
    auto found = grpc_auth_context_find_properties_by_name(context, property);
    while (const grpc_auth_property* one = grpc_auth_property_iterator_next(&found))
      names.push_back(prefix + std::string(one->value, one->value_length));
  }
  return names;
}

// The property of a connection's context that holds the caller's name.
constexpr const char* kCallerProperty = "echoline_caller";

// The state of gRPC's processor. gRPC's locks order its creation before its use, but
// ThreadSanitizer does not see those locks (gRPC is not instrumented), so the pointer is atomic.
struct CheckHolder {
  explicit CheckHolder(CallCheck given) : owned(std::move(given)) { check.store(&owned); }

  const CallCheck owned;
  std::atomic<const CallCheck*> check = nullptr;
  Mutex mutex;
};

// Finds the caller and writes its name into the context. All calls of a connection share the
// context, which has no lock. So it is written once, before the first handler reads it, and read
// here under the same mutex.
Caller record_caller(CheckHolder& holder, grpc_auth_context* context) {
  const MutexLock lock(holder.mutex);
  Caller caller = holder.check.load()->caller_of(names_of(context));
  // Written by an earlier call of the connection.
  auto found = grpc_auth_context_find_properties_by_name(context, kCallerProperty);
  if (grpc_auth_property_iterator_next(&found) == nullptr) {
    grpc_auth_context_add_cstring_property(context, kCallerProperty, caller.name.c_str());
  }
  return caller;
}

// gRPC's processor: authorizes one call.
void authorize(void* state, grpc_auth_context* context, const grpc_metadata* metadata,
               std::size_t count, grpc_process_auth_metadata_done_cb done, void* call) {
  auto& holder = *static_cast<CheckHolder*>(state);
  const Caller caller = record_caller(holder, context);
  const grpc::Status answer =
      to_grpc(holder.check.load()->judge(caller, method_of(metadata, count)));
  // The error's code and text go to the client.
  done(call, nullptr, 0, nullptr, 0, static_cast<grpc_status_code>(answer.error_code()),
       answer.ok() ? nullptr : answer.error_message().c_str());
}

class CheckedCredentials final : public grpc::ServerCredentials {
 public:
  // Takes over the reference.
  CheckedCredentials(grpc_server_credentials* credentials, CallCheck check)
      : credentials_(credentials) {
    const auto destroy = [](void* state) { delete static_cast<CheckHolder*>(state); };
    grpc_server_credentials_set_auth_metadata_processor(
        credentials_, {authorize, destroy, new CheckHolder(std::move(check))});
  }
  CheckedCredentials(const CheckedCredentials&) = delete;
  CheckedCredentials& operator=(const CheckedCredentials&) = delete;
  ~CheckedCredentials() override { grpc_server_credentials_release(credentials_); }

 private:
  // The constructor has set the check, and another processor would replace it.
  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/) override {}
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};

// Gives gRPC the certificate at each handshake. gRPC serializes the calls.
struct Fetcher {
  const TlsFiles& files;
  std::shared_ptr<const TlsMaterial> given;
};

grpc_ssl_certificate_config_reload_status fetch(void* state,
                                                grpc_ssl_server_certificate_config** config) {
  auto& fetcher = *static_cast<Fetcher*>(state);
  std::shared_ptr<const TlsMaterial> material = fetcher.files.material();
  // The same object: the files have not changed since gRPC asked last.
  if (material == fetcher.given) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{material->key.c_str(), material->certificate.c_str()};
  *config = grpc_ssl_server_certificate_config_create(material->authorities.c_str(), &pair, 1);
  fetcher.given = std::move(material);
  // Kept, so that the next question can compare, and its texts stay valid.
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace

std::string caller_name(const grpc::ServerContext& context) {
  // Without a processor there is no name; that does not happen for calls of this server.
  const auto found = context.auth_context()->FindPropertyValues(kCallerProperty);
  return found.empty() ? "somebody" : std::string(found.front().data(), found.front().size());
}

std::shared_ptr<grpc::ServerCredentials> unencrypted_credentials(CallCheck check) {
  return std::make_shared<CheckedCredentials>(grpc_insecure_server_credentials_create(),
                                              std::move(check));
}

std::shared_ptr<grpc::ServerCredentials> tls_credentials(const TlsFiles& files, CallCheck check) {
  const auto fetcher = std::make_shared<Fetcher>(Fetcher{files, nullptr});
  grpc_server_credentials* const credentials = grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(
          GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY, fetch, fetcher.get()));
  // gRPC keeps a plain pointer to the fetcher. The credentials own the check, so the check owns the
  // fetcher.
  auto judge = [fetcher, asked = std::move(check.judge)](
                   const Caller& caller, std::string_view method) { return asked(caller, method); };
  return std::make_shared<CheckedCredentials>(
      credentials, CallCheck{std::move(check.caller_of), std::move(judge)});
}

}  // namespace echoline::serve
