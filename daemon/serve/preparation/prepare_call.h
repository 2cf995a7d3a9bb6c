// One call of SamplePreparation.Prepare.
#pragma once

#include <functional>

#include "engine/api/engine.h"

namespace grpc {
class ByteBuffer;
class ServerUnaryReactor;
}  // namespace grpc

namespace echoline::serve {

// Begins the call; gRPC ends it. `ended` is called once, and says whether it was
// answered.
grpc::ServerUnaryReactor* begin_prepare_call(engine::Engine& engine,
                                             const grpc::ByteBuffer& request,
                                             grpc::ByteBuffer& response,
                                             std::function<void(bool answered)> ended);

}  // namespace echoline::serve
