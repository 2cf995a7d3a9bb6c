#include "engine/remote/remote_server.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <utility>

#include "base/bounded_file.h"
#include "engine/remote/channel_arguments.h"

namespace echoline::engine {
namespace {

constexpr std::size_t kPemBytesMax = 1 << 20;
constexpr std::uint64_t kDownFirstNs = 100'000'000;
constexpr std::uint64_t kDownMaxNs = 1'000'000'000;
constexpr std::uint64_t kRefusedNs = 5'000'000'000;
constexpr std::uint64_t kBusyNs = 20'000'000;

Result<std::string> read_pem(const char* key, const std::string& path) {
  Result<std::string> text = read_bounded_file(path, kPemBytesMax);
  if (text.ok()) return text;
  return text.status().with_context(std::string("prepare.") + key);
}

}  // namespace

Result<HostCredentials> read_credentials(const HostFiles& files) {
  HostCredentials read;
  ECHOLINE_ASSIGN(read.certificate, read_pem("certificate", files.certificate));
  ECHOLINE_ASSIGN(read.key, read_pem("key", files.key));
  ECHOLINE_ASSIGN(read.server_ca, read_pem("server_ca", files.server_ca));
  return read;
}

std::shared_ptr<grpc::ChannelInterface> open_channel(const ServerAddress& address,
                                                     const HostCredentials& credentials) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = credentials.server_ca;
  tls.pem_cert_chain = credentials.certificate;
  tls.pem_private_key = credentials.key;
  grpc::ChannelArguments arguments;
  set_channel_arguments(address.host, arguments);
  return grpc::CreateCustomChannel(address.target, grpc::SslCredentials(tls), arguments);
}

RemoteServer::RemoteServer(ServerAddress address, const HostCredentials& credentials)
    : address_(std::move(address)) {
  use(credentials);
}

void RemoteServer::use(const HostCredentials& credentials) {
  if (channel_ != nullptr && credentials == credentials_) return;
  credentials_ = credentials;
  channel_ = open_channel(address_, credentials);
}

void RemoteServer::note_failure(std::uint64_t now_ns) {
  // Requests that were in flight together fail together: they count once.
  if (!is_good() && now_ns < probe_at_ns_) return;
  probe_at_ns_ = now_ns + std::min(kDownFirstNs << std::min(failures_, 5U), kDownMaxNs);
  ++failures_;
}

void RemoteServer::note_refusal(std::uint64_t now_ns) {
  ++failures_;
  probe_at_ns_ = now_ns + kRefusedNs;
}

void RemoteServer::note_busy(std::uint64_t now_ns) { busy_until_ns_ = now_ns + kBusyNs; }

}  // namespace echoline::engine
