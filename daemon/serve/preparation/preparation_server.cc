// Connections come from a gate that counts them.
#include "serve/preparation/preparation_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "base/rate_limiter.h"
#include "echoline/v1/preparation.grpc.pb.h"
#include "serve/control/control_credentials.h"
#include "serve/control/control_gate.h"
#include "serve/control/control_roles.h"
#include "serve/control/server_limits.h"
#include "serve/control/socket_acceptor.h"
#include "serve/control/tls_files.h"
#include "serve/preparation/prepare_call.h"

namespace echoline::serve {
namespace {

constexpr auto kShutdownPatience = std::chrono::milliseconds(200);
// 4,096 records of ten bytes each, and names.
constexpr int kRequestBytesMax = 64 << 10;
// Hosts notice a server that has stopped by pings.
constexpr int kClientPingMinMs = 100;
constexpr int kCallsOfConnectionMax = 300;
constexpr std::size_t kConnectionsMax = 4096;
constexpr std::size_t kPerPeerMax = 64;
constexpr std::uint64_t kDenialLogNs = 1'000'000'000;
constexpr std::string_view kHealth = "/grpc.health.v1.Health/";

using RawService =
    v1::SamplePreparation::WithRawCallbackMethod_Prepare<v1::SamplePreparation::Service>;

// gRPC's threads call it, many at a time.
class PreparationService final : public RawService {
 public:
  explicit PreparationService(engine::Engine& engine) : engine_(engine) {}

  grpc::ServerUnaryReactor* Prepare(grpc::CallbackServerContext* /*context*/,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    return begin_prepare_call(engine_, *request, *response, [this](bool was_answered) {
      ++ended;
      if (was_answered) ++answered;
    });
  }

  std::atomic<std::uint64_t> ended = 0;
  std::atomic<std::uint64_t> answered = 0;

 private:
  engine::Engine& engine_;
};

class GrpcPreparationServer final : public PreparationServer {
 public:
  GrpcPreparationServer(ControlRoles roles, engine::Engine& engine)
      : roles_(std::move(roles)), service_(engine) {}
  GrpcPreparationServer(const GrpcPreparationServer&) = delete;
  GrpcPreparationServer& operator=(const GrpcPreparationServer&) = delete;

  ~GrpcPreparationServer() override { stop(); }

  void stop() override {
    // First: gRPC would lose the connections that it gets after its shutdown.
    if (gate_ != nullptr) gate_->stop();
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + kShutdownPatience);
    server_->Wait();
  }

  Status listen(const v1::Serve& settings) {
    ECHOLINE_ASSIGN(tls_, TlsFiles::open(tls_paths(settings)));
    ECHOLINE_ASSIGN(gate_, ControlGate::open({.listen = settings.listen(),
                                              .key = "daemon.serve.listen",
                                              .connections_max = kConnectionsMax,
                                              .per_peer_max = kPerPeerMax}));
    ECHOLINE_TRY(start_grpc());
    gate_->start({[](UniqueFd, const Peer&) {},
                  [this](UniqueFd socket) { acceptor_->accept(std::move(socket)); },
                  [this] { tls_->poll(); }});
    log_info("serve", "prepares samples for other hosts at port {}", port());
    return Status();
  }

  PreparationCounts counts() const override {
    return {.connections = gate_->tcp_connections(),
            .refused_connections = gate_->refused(),
            .calls_ended = service_.ended,
            .calls_answered = service_.answered,
            .calls_denied = denied_,
            .certificate_not_after = tls_->counts().not_after};
  }

  std::uint16_t port() const override { return gate_->tcp_port(); }

 private:
  // Builds and starts the server. It listens nowhere: all connections come from the gate.
  Status start_grpc() {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    set_limits(builder, {.message_bytes = kRequestBytesMax,
                         .calls_of_connection = kCallsOfConnectionMax,
                         .client_ping_ms = kClientPingMinMs});
    const auto caller_of = [this](const std::vector<std::string>& names) {
      return roles_.of_certificate(names);
    };
    const auto judged = [this](const Caller& caller, std::string_view method) {
      return judge(caller, method);
    };
    acceptor_.emplace(builder, tls_credentials(*tls_, {caller_of, judged}));
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ != nullptr) return Status();
    return Status(Code::kInternal, "gRPC could not be started; GRPC_VERBOSITY=debug says why");
  }

  // Runs on gRPC's threads before each handler.
  Status judge(const Caller& caller, std::string_view method) {
    if (caller.role != Role::kStranger || method.starts_with(kHealth)) return Status();
    ++denied_;
    Status decision(Code::kPermissionDenied,
                    caller.name +
                        " may not ask for samples; the operator of the preparation "
                        "server names who may in daemon.serve.allow");
    // At most one line a second: a hostile caller could fill the log.
    if (denial_log_.due(monotonic_ns())) log_warning("serve", "denied: {}", decision.message());
    return decision;
  }

  const ControlRoles roles_;
  PreparationService service_;
  std::unique_ptr<TlsFiles> tls_;
  std::atomic<std::uint64_t> denied_ = 0;
  RateLimiter denial_log_{kDenialLogNs};
  std::optional<SocketAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ControlGate> gate_;
};

}  // namespace

Result<std::unique_ptr<PreparationServer>> PreparationServer::open(const v1::Serve& settings,
                                                                   engine::Engine& engine) {
  // The same names and rules as for readers of the control service.
  v1::ControlAccess access;
  *access.mutable_readers() = settings.allow();
  ECHOLINE_ASSIGN(ControlRoles roles, ControlRoles::parse(access));
  auto server = std::make_unique<GrpcPreparationServer>(std::move(roles), engine);
  ECHOLINE_TRY(server->listen(settings));
  return std::unique_ptr<PreparationServer>(std::move(server));
}

}  // namespace echoline::serve
