// Beyond the limits of every server: idle connections are closed, and all calls together have
// bounded threads and memory.
#include "serve/control/control.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "base/rate_limiter.h"
#include "serve/control/control_credentials.h"
#include "serve/control/control_gate.h"
#include "serve/control/control_roles.h"
#include "serve/control/control_service.h"
#include "serve/control/peer_acceptors.h"
#include "serve/control/server_limits.h"
#include "serve/control/socket_acceptor.h"

namespace echoline::serve {
namespace {

// 0666: anyone can connect, and each call checks its user (judge).
constexpr mode_t kOwnMode = 0600;
constexpr mode_t kOthersMode = 0666;
// Running calls get this long; then they are cancelled.
constexpr auto kShutdownPatience = std::chrono::seconds(1);
// A configuration is at most 1 MiB (KeptStreams, config/load).
constexpr int kMessageBytesMax = 2 << 20;
constexpr int kClientPingMinMs = 10'000;
// A connection without calls is closed after ten minutes.
constexpr int kIdleMs = 600'000;
constexpr int kCallsOfConnectionMax = 32;
// Bounds of all calls together, so that a flood of them costs a fixed amount.
constexpr int kThreadsMax = 128;
constexpr std::size_t kMemoryMax = 32 << 20;
constexpr std::uint64_t kDenialLogNs = 1'000'000'000;
constexpr const char* kService = "echoline.v1.Control";

void set_bounds(grpc::ServerBuilder& builder) {
  set_limits(builder, {.message_bytes = kMessageBytesMax,
                       .calls_of_connection = kCallsOfConnectionMax,
                       .client_ping_ms = kClientPingMinMs});
  builder.SetResourceQuota(
      // gRPC refuses calls beyond the quota instead of allocating more.
      grpc::ResourceQuota("control").Resize(kMemoryMax).SetMaxThreads(kThreadsMax));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
}

// Owns the gate, gRPC's server, the acceptors between them, and the TLS files. The gate's thread
// accepts connections and polls the files; gRPC's threads run the calls.
class GrpcControlServer final : public ControlServer {
 public:
  GrpcControlServer(ControlRoles roles, const ControlContext& context)
      : roles_(std::move(roles)), service_(context) {}
  GrpcControlServer(const GrpcControlServer&) = delete;
  GrpcControlServer& operator=(const GrpcControlServer&) = delete;

  ~GrpcControlServer() override {
    // First the gate: its thread uses the acceptors and the TLS files.
    gate_.reset();
    // Never started.
    if (server_ == nullptr) return;
    // Before Shutdown: calls that watch would otherwise use up the patience.
    service_.stop();
    server_->Shutdown(std::chrono::system_clock::now() + kShutdownPatience);
    server_->Wait();
  }

  Status listen(const std::string& path, const v1::ControlAccess& access) {
    if (!access.listen().empty()) {
      // Read now: a wrong file is an error at start.
      ECHOLINE_ASSIGN(tls_, TlsFiles::open(tls_paths(access)));
    }
    const mode_t mode = roles_.admit_other_users() ? kOthersMode : kOwnMode;
    // The sockets before gRPC: a second daemon fails here.
    ECHOLINE_ASSIGN(gate_, ControlGate::open({.path = path,
                                              .mode = mode,
                                              .listen = access.listen(),
                                              .key = "daemon.control.listen"}));
    ECHOLINE_TRY(start_grpc());
    gate_->start({[this](UniqueFd socket, const Peer& peer) {
                    // The kernel names the peer; its role is looked up once for each connection.
                    acceptors_->accept(std::move(socket), roles_.of_peer(peer));
                  },
                  [this](UniqueFd socket) { tls_acceptor_->accept(std::move(socket)); },
                  [this] {
                    if (tls_ != nullptr) tls_->poll();
                  }});
    return Status();
  }

  void set_serving(bool serving) override {
    // Both names: some clients ask for the server as a whole, others for the service.
    grpc::HealthCheckServiceInterface* const health = server_->GetHealthCheckService();
    health->SetServingStatus(serving);
    health->SetServingStatus(kService, serving);
  }

  ControlCounts counts() const override {
    ControlCounts counts;
    counts.unix_connections = gate_->unix_connections();
    counts.tls_connections = gate_->tcp_connections();
    counts.refused = gate_->refused();
    counts.calls_denied = calls_denied_;
    // The other fields are only valid with TLS.
    if (tls_ == nullptr) return counts;
    const TlsFiles::Counts tls = tls_->counts();
    counts.has_tls = true;
    counts.reloads_ok = tls.reloads_ok;
    counts.reloads_failed = tls.reloads_failed;
    counts.certificate_not_after = tls.not_after;
    return counts;
  }

  std::uint16_t tls_port() const override { return gate_->tcp_port(); }

 private:
  // Builds and starts the server. It listens nowhere: all connections come from the gate.
  Status start_grpc() {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    set_bounds(builder);
    const auto judged = [this](const Caller& caller, std::string_view method) {
      return judge(caller, method);
    };
    acceptors_ = std::make_unique<PeerAcceptors>(builder, judged);
    if (tls_ != nullptr) {
      const auto caller_of = [this](const std::vector<std::string>& names) {
        return roles_.of_certificate(names);
      };
      tls_acceptor_.emplace(builder, tls_credentials(*tls_, {caller_of, judged}));
    }
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return Status(Code::kInternal, "gRPC could not be started; GRPC_VERBOSITY=debug says why");
    }
    // Until the daemon is ready.
    set_serving(false);
    return Status();
  }

  // Whether the caller may call the method; counts and logs a denial.
  Status judge(const Caller& caller, std::string_view method) {
    // Runs on gRPC's threads before each handler.
    Status decision = may_call(caller, method);
    if (!decision.ok()) {
      ++calls_denied_;
      log_denial(decision);
    }
    return decision;
  }

  // At most one line a second: a hostile caller could fill the log.
  void log_denial(const Status& decision) {
    if (denial_log_.due(monotonic_ns())) log_warning("control", "denied: {}", decision.message());
  }

  const ControlRoles roles_;
  ControlService service_;
  std::unique_ptr<TlsFiles> tls_;  // null: no TLS
  std::atomic<std::uint64_t> calls_denied_ = 0;
  RateLimiter denial_log_{kDenialLogNs};
  std::unique_ptr<PeerAcceptors> acceptors_;
  std::optional<SocketAcceptor> tls_acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ControlGate> gate_;
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::open(const std::string& path,
                                                           const v1::ControlAccess& access,
                                                           const ControlContext& context) {
  ECHOLINE_ASSIGN(ControlRoles roles, ControlRoles::parse(access));
  ControlContext daemon = context;
  // An operator has no other way to run code as the daemon's user.
  daemon.creates_python = access.python() || access.operators().empty();
  auto server = std::make_unique<GrpcControlServer>(std::move(roles), daemon);
  ECHOLINE_TRY(server->listen(path, access));
  return std::unique_ptr<ControlServer>(std::move(server));
}

}  // namespace echoline::serve
