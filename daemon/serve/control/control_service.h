// The calls of echoline.v1.Control on an engine: checks, translation, what is kept over a restart.
#pragma once

#include "base/status.h"
#include "echoline/v1/control.grpc.pb.h"
#include "serve/control/control_context.h"
#include "serve/control/watchers.h"

namespace echoline::serve {

// Any thread may call any of it.
class ControlService final : public v1::Control::Service {
 public:
  explicit ControlService(const ControlContext& controlled) : controlled_(controlled) {}

  grpc::Status CreateStream(grpc::ServerContext* context, const v1::CreateStreamRequest* request,
                            v1::CreateStreamResponse* response) override;
  grpc::Status DeleteStream(grpc::ServerContext* context, const v1::DeleteStreamRequest* request,
                            v1::DeleteStreamResponse* response) override;
  grpc::Status Drain(grpc::ServerContext* context, const v1::DrainRequest* request,
                     v1::DrainResponse* response) override;
  grpc::Status SetEcho(grpc::ServerContext* context, const v1::SetEchoRequest* request,
                       v1::SetEchoResponse* response) override;
  grpc::Status ListStreams(grpc::ServerContext* context, const v1::ListStreamsRequest* request,
                           v1::ListStreamsResponse* response) override;
  grpc::Status WatchStats(grpc::ServerContext* context, const v1::WatchStatsRequest* request,
                          grpc::ServerWriter<v1::WatchStatsResponse>* writer) override;
  grpc::Status GetState(grpc::ServerContext* context, const v1::GetStateRequest* request,
                        v1::GetStateResponse* response) override;
  grpc::Status GetKeys(grpc::ServerContext* context, const v1::GetKeysRequest* request,
                       v1::GetKeysResponse* response) override;
  grpc::Status GetStep(grpc::ServerContext* context, const v1::GetStepRequest* request,
                       v1::GetStepResponse* response) override;

  // Calls that would stay open end.
  void stop() { watchers_.stop(); }

 private:
  Status create(const v1::CreateStreamRequest& request, const grpc::ServerContext& context);
  Status may_change() const;
  Status keep(const v1::CreateStreamRequest& request, const v1::Stream& stream);
  Status remove(const v1::DeleteStreamRequest& request);
  void fill(const engine::StreamStats& stats, v1::StreamStatus& status) const;
  v1::WatchStatsResponse look(const std::string& name) const;

  const ControlContext controlled_;
  Watchers watchers_;
  std::mutex kept_mutex_;  // a stream and what is kept of it change together
};

// The code of gRPC that says the same; the message is kept.
grpc::Status to_grpc(const Status& status);

}  // namespace echoline::serve
