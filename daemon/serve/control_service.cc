// Names are checked before the engine sees them; everything else is the engine's to refuse.
#include "serve/control_service.h"

#include <fmt/core.h>

#include "config/load.h"
#include "serve/progress_log.h"
#include "serve/stream_status.h"

namespace echoline::serve {
namespace {

constexpr int kKeysMax = 100'000;

grpc::StatusCode grpc_code(Code code) {
  switch (code) {
    case Code::kOk:
      return grpc::StatusCode::OK;
    case Code::kInvalidArgument:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case Code::kNotFound:
      return grpc::StatusCode::NOT_FOUND;
    case Code::kAlreadyExists:
      return grpc::StatusCode::ALREADY_EXISTS;
    case Code::kPermissionDenied:
      return grpc::StatusCode::PERMISSION_DENIED;
    case Code::kFailedPrecondition:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case Code::kResourceExhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Code::kUnavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case Code::kDeadlineExceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case Code::kCancelled:
      return grpc::StatusCode::CANCELLED;
    case Code::kDataLoss:
      return grpc::StatusCode::DATA_LOSS;
    case Code::kUnimplemented:
      return grpc::StatusCode::UNIMPLEMENTED;
    case Code::kInternal:
      return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::UNKNOWN;
}

}  // namespace

grpc::Status to_grpc(const Status& status) {
  return status.ok() ? grpc::Status::OK : grpc::Status(grpc_code(status.code()), status.message());
}

grpc::Status ControlService::CreateStream(grpc::ServerContext* /*context*/,
                                          const v1::CreateStreamRequest* request,
                                          v1::CreateStreamResponse* /*response*/) {
  v1::Stream stream = request->stream();
  if (const Status status = config::complete_stream(request->name(), stream); !status.ok()) {
    return to_grpc(status);
  }
  return to_grpc(engine_.create_stream(request->name(), stream, log_progress(request->name())));
}

grpc::Status ControlService::DeleteStream(grpc::ServerContext* /*context*/,
                                          const v1::DeleteStreamRequest* request,
                                          v1::DeleteStreamResponse* /*response*/) {
  return to_grpc(engine_.delete_stream(request->name()));
}

grpc::Status ControlService::ListStreams(grpc::ServerContext* /*context*/,
                                         const v1::ListStreamsRequest* /*request*/,
                                         v1::ListStreamsResponse* response) {
  for (const engine::StreamStats& stream : engine_.stats().streams) {
    fill_stream_status(stream, *response->add_streams());
  }
  return grpc::Status::OK;
}

grpc::Status ControlService::GetState(grpc::ServerContext* /*context*/,
                                      const v1::GetStateRequest* request,
                                      v1::GetStateResponse* response) {
  const auto states = engine_.states(request->name());
  if (!states.ok()) return to_grpc(states.status());
  response->mutable_state_json()->insert(states->begin(), states->end());
  return grpc::Status::OK;
}

grpc::Status ControlService::GetKeys(grpc::ServerContext* /*context*/,
                                     const v1::GetKeysRequest* request,
                                     v1::GetKeysResponse* response) {
  if (request->sample_ids_size() > kKeysMax) {
    return to_grpc(
        Status(Code::kInvalidArgument, fmt::format("{} sample ids; at most {} in one call",
                                                   request->sample_ids_size(), kKeysMax)));
  }
  auto keys =
      engine_.keys(request->name(), {request->sample_ids().begin(), request->sample_ids().end()});
  if (!keys.ok()) return to_grpc(keys.status());
  for (std::string& key : *keys) response->add_keys(std::move(key));
  return grpc::Status::OK;
}

grpc::Status ControlService::GetStep(grpc::ServerContext* /*context*/,
                                     const v1::GetStepRequest* request,
                                     v1::GetStepResponse* response) {
  const auto rows =
      engine_.step(request->name(), request->epoch(), request->step(), request->batch_size());
  if (!rows.ok()) return to_grpc(rows.status());
  for (const engine::SampleUse& row : *rows) {
    response->add_sample_ids(row.sample);
    response->add_uses(row.use);
  }
  return grpc::Status::OK;
}

}  // namespace echoline::serve
