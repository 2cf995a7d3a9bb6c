// gRPC's own limits of a server. gRPC closes a connection that does not finish its handshake or
// answers no ping, and it bounds what a client may send and how many calls it may run.
#pragma once

namespace grpc {
class ServerBuilder;
}  // namespace grpc

namespace echoline::serve {

struct ServerLimits {
  int message_bytes = 0;
  int calls_of_connection = 0;
  // A client that pings more often is disconnected.
  int client_ping_ms = 0;
};

void set_limits(grpc::ServerBuilder& builder, const ServerLimits& limits);

}  // namespace echoline::serve
