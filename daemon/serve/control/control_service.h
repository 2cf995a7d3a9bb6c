// The calls of echoline.v1.Control on an engine: checks, translation, and the streams that are kept
// over a restart.
#pragma once

#include "base/mutex.h"
#include "base/status.h"
#include "echoline/v1/control.grpc.pb.h"
#include "serve/control/control_context.h"
#include "serve/control/watchers.h"

namespace echoline::serve {

// gRPC's threads call the handlers, many at a time.
class ControlService final : public v1::Control::Service {
 public:
  explicit ControlService(const ControlContext& daemon) : daemon_(daemon) {}

  grpc::Status CreateStream(grpc::ServerContext* context, const v1::CreateStreamRequest* request,
                            v1::CreateStreamResponse* response) override;
  grpc::Status DeleteStream(grpc::ServerContext* context, const v1::DeleteStreamRequest* request,
                            v1::DeleteStreamResponse* response) override;
  grpc::Status KeepAwake(grpc::ServerContext* context, const v1::KeepAwakeRequest* request,
                         v1::KeepAwakeResponse* response) override;
  grpc::Status Drain(grpc::ServerContext* context, const v1::DrainRequest* request,
                     v1::DrainResponse* response) override;
  grpc::Status SetEcho(grpc::ServerContext* context, const v1::SetEchoRequest* request,
                       v1::SetEchoResponse* response) override;
  grpc::Status SetWeights(grpc::ServerContext* context, const v1::SetWeightsRequest* request,
                          v1::SetWeightsResponse* response) override;
  grpc::Status ListStreams(grpc::ServerContext* context, const v1::ListStreamsRequest* request,
                           v1::ListStreamsResponse* response) override;
  grpc::Status WatchStats(grpc::ServerContext* context, const v1::WatchStatsRequest* request,
                          grpc::ServerWriter<v1::WatchStatsResponse>* writer) override;
  grpc::Status WatchTrace(grpc::ServerContext* context, const v1::WatchTraceRequest* request,
                          grpc::ServerWriter<v1::WatchTraceResponse>* writer) override;
  grpc::Status GetState(grpc::ServerContext* context, const v1::GetStateRequest* request,
                        v1::GetStateResponse* response) override;
  grpc::Status GetKeys(grpc::ServerContext* context, const v1::GetKeysRequest* request,
                       v1::GetKeysResponse* response) override;
  grpc::Status GetStep(grpc::ServerContext* context, const v1::GetStepRequest* request,
                       v1::GetStepResponse* response) override;

  // Ends the calls that stay open.
  void stop() { watchers_.stop(); }

 private:
  // CreateStream, with a Status of the daemon.
  Status create(const v1::CreateStreamRequest& request, const grpc::ServerContext& context);
  // kUnavailable while the daemon starts or stops.
  Status may_change() const;
  // Writes a created stream to the state folder.
  Status keep(const v1::CreateStreamRequest& request, const v1::Stream& stream);
  // False if there was no such stream, and the request allows that.
  Result<bool> remove(const v1::DeleteStreamRequest& request);

  const ControlContext daemon_;
  Watchers watchers_;
  Mutex kept_mutex_;  // held while a stream and its kept file change together
};

// The same code and message for gRPC; a long message is cut.
grpc::Status to_grpc(const Status& status);

}  // namespace echoline::serve
