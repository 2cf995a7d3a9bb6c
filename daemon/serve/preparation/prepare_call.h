// One call of Preparation.Prepare.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>

#include "engine/api/engine.h"

namespace echoline::serve {

// Begins the call; gRPC ends it. `answered` is called for each that got frames.
grpc::ServerUnaryReactor* begin_prepare_call(engine::Engine& engine,
                                             const grpc::ByteBuffer& request,
                                             grpc::ByteBuffer& response,
                                             std::function<void()> answered);

}  // namespace echoline::serve
