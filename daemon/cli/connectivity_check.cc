#include "cli/connectivity_check.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/unique_fd.h"

namespace echoline::cli {
namespace {

constexpr timeval kPatience{5, 0};

struct Free {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};

Status unreachable(std::string message) { return Status(Code::kUnavailable, std::move(message)); }

// The innermost reason of OpenSSL's last error, as "tlsv1 alert unknown ca".
std::string reason() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return text == nullptr ? "no reason given" : text;
}

std::string host_of(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
  return host;
}

Result<UniqueFd> connect_to(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--address: '{}' is no address; allowed: host:port", address));
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int error =
      ::getaddrinfo(host_of(address).c_str(), address.substr(colon + 1).c_str(), &hints, &first);
  if (error != 0) {
    return unreachable(fmt::format("--address: there is no host '{}' ({})", host_of(address),
                                   ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, Free> found(first);
  int last_error = 0;
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    UniqueFd socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) continue;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0) return socket;
    last_error = errno == EINPROGRESS ? ETIMEDOUT : errno;
  }
  return unreachable(
      fmt::format("nobody answers at {} ({}); is the daemon running, and is this "
                  "its daemon.control.listen?",
                  address, std::strerror(last_error)));
}

Status load_files(SSL_CTX* context, const DaemonOptions& daemon) {
  const auto wrong = [](const char* option, const std::string& path) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: {} cannot be used ({})", option, path, reason()));
  };
  if (SSL_CTX_load_verify_file(context, daemon.tls_ca.c_str()) != 1)
    return wrong("--tls-ca", daemon.tls_ca);
  if (SSL_CTX_use_certificate_chain_file(context, daemon.tls_cert.c_str()) != 1)
    return wrong("--tls-cert", daemon.tls_cert);
  if (SSL_CTX_use_PrivateKey_file(context, daemon.tls_key.c_str(), SSL_FILETYPE_PEM) != 1)
    return wrong("--tls-key", daemon.tls_key);
  if (X509_cmp_current_time(X509_get0_notAfter(SSL_CTX_get0_certificate(context))) < 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--tls-cert: {} has expired; renew it", daemon.tls_cert));
  }
  return Status();
}

// Lets the handshake fail unless the certificate is for this host name or numeric address.
bool expect_host(SSL* session, const std::string& host) {
  X509_VERIFY_PARAM* const expected = SSL_get0_param(session);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return true;
  return SSL_set_tlsext_host_name(session, host.c_str()) == 1 &&
         X509_VERIFY_PARAM_set1_host(expected, host.c_str(), 0) == 1;
}

Status handshake_error(SSL* session, const DaemonOptions& daemon) {
  const long verdict = SSL_get_verify_result(session);
  const std::string where = daemon.address;
  if (verdict == X509_V_OK) {
    const bool silent = ERR_peek_last_error() == 0;
    return unreachable(
        silent ? fmt::format("{} closed the connection or says nothing; has the daemon too many "
                             "connections, or is another service there?",
                             where)
               : fmt::format("{} speaks no TLS that this side does ({}); is this the daemon's "
                             "daemon.control.listen?",
                             where, reason()));
  }
  const char* remedy = "renew it";
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    remedy = "connect by a name that it holds, or make it with this one as an alternative name";
  } else if (verdict != X509_V_ERR_CERT_HAS_EXPIRED && verdict != X509_V_ERR_CERT_NOT_YET_VALID) {
    remedy = "name the authority that issued it with --tls-ca";
  }
  return unreachable(fmt::format("the certificate of {} is not trusted: {}; {}", where,
                                 X509_verify_cert_error_string(verdict), remedy));
}

}  // namespace

Status check_socket_connection(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return errno_status(ENAMETOOLONG, path);
  std::memcpy(address.sun_path, path.data(), path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  // EAGAIN: it listens, but has not accepted its last connections yet.
  if (::connect(socket.get(), to, sizeof address) == 0 || errno == EAGAIN) return Status();
  if (errno == EACCES || errno == EPERM) {
    return Status(Code::kPermissionDenied,
                  fmt::format("{}: this user may not open it; the daemon's operator names who may "
                              "in daemon.control.operators and daemon.control.readers, and they "
                              "need the group of the folder",
                              path));
  }
  return unreachable(
      fmt::format("no daemon answers at {}; start one with 'echolined --config FILE', or name its "
                  "folder with --runtime-dir or ECHOLINE_RUNTIME_DIR",
                  path));
}

Status check_tls_connection(const DaemonOptions& daemon) {
  const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  ECHOLINE_TRY(load_files(context.get(), daemon));
  ECHOLINE_ASSIGN(const UniqueFd socket, connect_to(daemon.address));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  constexpr std::array<unsigned char, 3> kHttp2{2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp2.data(), kHttp2.size());
  const std::unique_ptr<SSL, Free> session(SSL_new(context.get()));
  if (!expect_host(session.get(), host_of(daemon.address)) ||
      SSL_set_fd(session.get(), socket.get()) != 1) {
    return Status(Code::kInternal, "OpenSSL: " + reason());
  }
  ERR_clear_error();
  if (SSL_connect(session.get()) != 1) return handshake_error(session.get(), daemon);
  // With TLS 1.3 the client's handshake ends before the server checks the client's certificate. If
  // it refuses that, gRPC closes the connection without an alert, so read the first byte.
  char first = 0;
  if (SSL_read(session.get(), &first, 1) > 0 || ERR_peek_last_error() == 0) return Status();
  return Status(
      Code::kPermissionDenied,
      fmt::format("the daemon at {} does not take the certificate {}; it must be issued by "
                  "an authority of daemon.control.client_ca",
                  daemon.address, daemon.tls_cert));
}

}  // namespace echoline::cli
