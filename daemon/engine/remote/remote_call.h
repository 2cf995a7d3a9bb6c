// A run on its way, and the requests for it.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/remote/preparation_client.h"
#include "engine/remote/remote_server.h"

namespace echoline::engine {

struct RemoteCall;

// Lives until it has a result and none of its calls is in flight.
struct RunState {
  RemoteRun run;
  std::vector<RemoteCall*> calls;          // in flight: one, or two after a late first one
  std::vector<const RemoteServer*> tried;  // failed it, since the run was last begun
  std::uint64_t not_before_ns = 0;         // after all servers have failed it
  bool has_second = false;
  bool done = false;

  // Without records it asks whether a server answers again.
  bool is_probe() const { return run.records.empty(); }
  bool has_tried(const RemoteServer& server) const {
    return std::find(tried.begin(), tried.end(), &server) != tried.end();
  }
};

// One request at one server.
struct RemoteCall {
  std::shared_ptr<RunState> state;
  std::shared_ptr<RemoteServer> server;
  std::uint64_t sent_ns = 0;
  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
};

}  // namespace echoline::engine
