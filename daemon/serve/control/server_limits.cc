#include "serve/control/server_limits.h"

#include <grpcpp/grpcpp.h>

namespace echoline::serve {
namespace {

constexpr int kMetadataBytesMax = 16 << 10;
constexpr int kHandshakeMs = 5'000;
constexpr int kPingAfterMs = 30'000;
constexpr int kPingPatienceMs = 10'000;

}  // namespace

void set_limits(grpc::ServerBuilder& builder, const ServerLimits& limits) {
  builder.SetMaxReceiveMessageSize(limits.message_bytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingAfterMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingPatienceMs);
  // Also without a call: a dead client is found, and its place becomes free.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             limits.client_ping_ms);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.calls_of_connection);
}

}  // namespace echoline::serve
