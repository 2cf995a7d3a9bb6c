// gRPC's own bind would take a living daemon's socket away, so the path is looked at first; the
// door's lock keeps two daemons that start at once apart.
#include "serve/control.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/log.h"
#include "serve/control_service.h"
#include "serve/unix_path.h"

namespace echoline::serve {
namespace {

constexpr mode_t kSocketMode = 0600;  // operators are the daemon's user and root
constexpr auto kShutdownPatience = std::chrono::seconds(1);
constexpr int kMessageBytesMax = 16 << 20;

class GrpcControlServer final : public ControlServer {
 public:
  GrpcControlServer(std::string path, const Controlled& controlled)
      : path_(std::move(path)), service_(controlled) {}
  GrpcControlServer(const GrpcControlServer&) = delete;
  GrpcControlServer& operator=(const GrpcControlServer&) = delete;

  ~GrpcControlServer() override {
    if (server_ == nullptr) return;
    service_.stop();
    server_->Shutdown(std::chrono::system_clock::now() + kShutdownPatience);
    server_->Wait();
    server_.reset();
    ::unlink(path_.c_str());
  }

  Status listen() {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    builder.AddListeningPort("unix:" + path_, grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return Status(Code::kUnavailable, path_ +
                                            ": the control socket cannot be served; may this "
                                            "user write to the folder?");
    }
    if (::chmod(path_.c_str(), kSocketMode) != 0) return errno_status(errno, path_);
    return Status();
  }

 private:
  const std::string path_;
  ControlService service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::open(const std::string& path,
                                                           const Controlled& controlled) {
  ECHOLINE_TRY(clear_unix_path(path));
  auto server = std::make_unique<GrpcControlServer>(path, controlled);
  ECHOLINE_TRY(server->listen());
  return std::unique_ptr<ControlServer>(std::move(server));
}

}  // namespace echoline::serve
