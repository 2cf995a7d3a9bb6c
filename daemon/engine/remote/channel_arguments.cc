#include "engine/remote/channel_arguments.h"

#include <grpcpp/support/channel_arguments.h>

#include "engine/remote/remote_options.h"

namespace echoline::engine {
namespace {

// A server whose process or network has stopped is noticed within the sum of the first two.
constexpr int kPingAfterMs = 500;
constexpr int kPingPatienceMs = 1'000;
constexpr int kConnectMs = 1'000;
constexpr int kReconnectMaxMs = 1'000;
constexpr int kPieceBytes = 1 << 20;

}  // namespace

void set_channel_arguments(const std::string& host, grpc::ChannelArguments& arguments) {
  // The certificate names the host as it was written, not the address that it was resolved to.
  arguments.SetSslTargetNameOverride(host);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kReceivedBytesMax));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingAfterMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingPatienceMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMaxMs / 10);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  // Samples are large: fewer and longer pieces on each layer.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kPieceBytes);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kPieceBytes);
  // One connection for each server of each stream: by default equal channels share one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
}

}  // namespace echoline::engine
