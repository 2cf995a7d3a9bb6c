// The calls of echoline.v1.Control on an engine: checks, translation, nothing else.
#pragma once

#include "base/status.h"
#include "echoline/v1/control.grpc.pb.h"
#include "engine/engine.h"

namespace echoline::serve {

// Any thread may call any of it; the engine outlives it.
class ControlService final : public v1::Control::Service {
 public:
  explicit ControlService(engine::Engine& engine) : engine_(engine) {}

  grpc::Status CreateStream(grpc::ServerContext* context, const v1::CreateStreamRequest* request,
                            v1::CreateStreamResponse* response) override;
  grpc::Status DeleteStream(grpc::ServerContext* context, const v1::DeleteStreamRequest* request,
                            v1::DeleteStreamResponse* response) override;
  grpc::Status ListStreams(grpc::ServerContext* context, const v1::ListStreamsRequest* request,
                           v1::ListStreamsResponse* response) override;
  grpc::Status GetState(grpc::ServerContext* context, const v1::GetStateRequest* request,
                        v1::GetStateResponse* response) override;
  grpc::Status GetKeys(grpc::ServerContext* context, const v1::GetKeysRequest* request,
                       v1::GetKeysResponse* response) override;
  grpc::Status GetStep(grpc::ServerContext* context, const v1::GetStepRequest* request,
                       v1::GetStepResponse* response) override;

 private:
  engine::Engine& engine_;
};

// The code of gRPC that says the same; the message is kept.
grpc::Status to_grpc(const Status& status);

}  // namespace echoline::serve
