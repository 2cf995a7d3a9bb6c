// Stream names are checked here; the engine checks everything else.
#include "serve/control/control_service.h"

#include <fmt/core.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/sanitize_name.h"
#include "base/utf8.h"
#include "config/load.h"
#include "serve/control/control_credentials.h"
#include "serve/control/snapshot.h"
#include "serve/control/trace_call.h"
#include "serve/monitor/all_stats.h"
#include "serve/process/progress_log.h"

namespace echoline::serve {
namespace {

// Bounds the answer.
constexpr int kKeysMax = 100'000;
// gRPC's clients accept 8 KiB of trailing metadata, where a byte of the message can need three.
constexpr std::size_t kErrorBytesMax = 2000;
constexpr std::uint32_t kPatienceMs = 5000;
// Longer calls would keep one of gRPC's threads busy.
constexpr std::chrono::milliseconds kPatienceMax{60'000};
constexpr std::chrono::milliseconds kAwakeMax{60'000};
constexpr std::uint32_t kIntervalMs = 1000;
constexpr std::chrono::milliseconds kIntervalMin{100};
constexpr std::chrono::milliseconds kIntervalMax{60'000};

void fill_start(const engine::FactorStart& from, v1::FactorStart& start) {
  start.mutable_jobs()->Add(from.jobs.begin(), from.jobs.end());
  start.set_epoch(from.epoch);
  start.set_block(from.block);
  start.set_row(from.row);
}

void fill_start(const engine::WeightStart& from, v1::WeightStart& start) {
  start.mutable_jobs()->Add(from.jobs.begin(), from.jobs.end());
  start.set_epoch(from.epoch);
  start.set_row(from.row);
}

engine::NamedWeights weights_of(const v1::SetWeightsRequest& request) {
  return {request.weights_thousandths().begin(), request.weights_thousandths().end()};
}

// Where a change begins in each pass.
template <typename Starts, typename Response>
grpc::Status answer(const Starts& starts, Response& response) {
  if (!starts.ok()) return to_grpc(starts.status());
  for (const auto& from : *starts) fill_start(from, *response.add_starts());
  return grpc::Status::OK;
}

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
  // For a code that a newer version has.
  return grpc::StatusCode::UNKNOWN;
}

Status check_at_most(const char* key, std::chrono::milliseconds value,
                     std::chrono::milliseconds most) {
  if (value <= most) return {};
  return {Code::kInvalidArgument,
          fmt::format("{}: {} is too long; allowed: 0 to {}", key, value.count(), most.count())};
}

// Logs the caller of each change and each trace, before it is made.
void audit(const grpc::ServerContext& context, const char* method, const std::string& stream) {
  // The name comes from the caller, so it is cleaned for the log.
  log_info({"control", sanitize_name(stream)}, "{} calls {}", caller_name(context), method);
}

}  // namespace

grpc::Status to_grpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(grpc_code(status.code()), cut_text(status.message(), kErrorBytesMax));
}

grpc::Status ControlService::CreateStream(grpc::ServerContext* context,
                                          const v1::CreateStreamRequest* request,
                                          v1::CreateStreamResponse* /*response*/) {
  audit(*context, "CreateStream", request->name());
  return to_grpc(create(*request, *context));
}

Status ControlService::create(const v1::CreateStreamRequest& request,
                              const grpc::ServerContext& context) {
  const std::string& name = request.name();
  v1::Stream stream = request.stream();
  ECHOLINE_TRY(config::complete_stream(name, stream));
  const bool has_code =
      std::any_of(stream.pipeline().begin(), stream.pipeline().end(), [](const v1::Step& step) {
        return step.has_python() || step.has_plugin() || step.read().has_python();
      });
  if (has_code && !daemon_.creates_python) {
    return Status(
        Code::kPermissionDenied,
        "`python` and `plugin` run any code as the daemon's user: put the stream into the daemon's "
        "configuration, or set daemon.control.python to true");
  }
  // Called while the stream is opened; its error cancels the opening.
  const auto progress = [&context, log = log_progress(name)](const record::Progress& seen) mutable {
    if (context.IsCancelled()) return Status(Code::kCancelled, "the caller left; not created");
    return log(seen);
  };
  // After the definition was checked: a wrong one is refused at any time.
  ECHOLINE_TRY(may_change());
  ECHOLINE_TRY(daemon_.engine->create_stream(name, stream, progress));
  return request.persist() ? keep(request, stream) : Status();
}

// While the daemon starts, a call could take the name of a stream of the configuration or of a kept
// one before that is created.
Status ControlService::may_change() const {
  if (daemon_.started != nullptr && !*daemon_.started) {
    return Status(Code::kUnavailable,
                  "the daemon is starting: its own streams come first; ask again when it is ready");
  }
  return *daemon_.draining ? Status(Code::kUnavailable, "the daemon is stopping") : Status();
}

Status ControlService::keep(const v1::CreateStreamRequest& request, const v1::Stream& stream) {
  // Held until the file is written: a deletion comes before or after both.
  const MutexLock lock(kept_mutex_);
  // Another call may have deleted the stream since, or created another one under its name.
  const auto present = daemon_.engine->definition(request.name());
  if (!present.ok() || !google::protobuf::util::MessageDifferencer::Equals(*present, stream)) {
    return Status(Code::kCancelled, "another call has deleted the stream or created another one");
  }
  return daemon_.kept->keep(request.name(), stream)
      .with_context("the stream is there, but will not outlive the daemon");
}

grpc::Status ControlService::DeleteStream(grpc::ServerContext* context,
                                          const v1::DeleteStreamRequest* request,
                                          v1::DeleteStreamResponse* response) {
  audit(*context, "DeleteStream", request->name());
  const Result<bool> deleted = remove(*request);
  if (!deleted.ok()) return to_grpc(deleted.status());
  response->set_deleted(*deleted);
  return grpc::Status::OK;
}

// First the file: if the daemon dies in between, its next start must not create the stream again.
Result<bool> ControlService::remove(const v1::DeleteStreamRequest& request) {
  ECHOLINE_TRY(config::check_stream_name(request.name()));
  ECHOLINE_TRY(may_change());
  // The lock keeps CreateStream from writing the file again in between.
  const MutexLock lock(kept_mutex_);
  ECHOLINE_ASSIGN(const bool was_kept, daemon_.kept->remove(request.name()));
  const Status status = daemon_.engine->delete_stream(request.name());
  // Only the file existed: the stream could not be created at the last start.
  if (status.code() == Code::kNotFound && (was_kept || request.allow_missing())) return was_kept;
  ECHOLINE_TRY(status);
  return true;
}

grpc::Status ControlService::KeepAwake(grpc::ServerContext* context,
                                       const v1::KeepAwakeRequest* request,
                                       v1::KeepAwakeResponse* /*response*/) {
  audit(*context, "KeepAwake", request->name());
  const std::chrono::milliseconds duration{request->duration_ms()};
  const Status allowed = check_at_most("duration_ms", duration, kAwakeMax);
  return to_grpc(allowed.ok() ? daemon_.engine->keep_awake(duration) : allowed);
}

grpc::Status ControlService::Drain(grpc::ServerContext* context, const v1::DrainRequest* request,
                                   v1::DrainResponse* response) {
  audit(*context, "Drain", request->name());
  const std::chrono::milliseconds patience{request->has_patience_ms() ? request->patience_ms()
                                                                      : kPatienceMs};
  const Status allowed = check_at_most("patience_ms", patience, kPatienceMax);
  if (!allowed.ok()) return to_grpc(allowed);
  // Also ends the wait when the daemon stops.
  const auto drained = daemon_.engine->drain_stream(request->name(), patience, [this, context] {
    return context->IsCancelled() || watchers_.stopped();
  });
  if (!drained.ok()) return to_grpc(drained.status());
  response->set_drained(*drained);
  return grpc::Status::OK;
}

grpc::Status ControlService::SetEcho(grpc::ServerContext* context,
                                     const v1::SetEchoRequest* request,
                                     v1::SetEchoResponse* response) {
  audit(*context, "SetEcho", request->name());
  if (request->forget_place()) return to_grpc(daemon_.engine->forget_echo_place(request->name()));
  return answer(daemon_.engine->set_echo(request->name(), request->factor_thousandths()),
                *response);
}

grpc::Status ControlService::SetWeights(grpc::ServerContext* context,
                                        const v1::SetWeightsRequest* request,
                                        v1::SetWeightsResponse* response) {
  audit(*context, "SetWeights", request->name());
  return answer(daemon_.engine->set_weights(request->name(), weights_of(*request)), *response);
}

grpc::Status ControlService::ListStreams(grpc::ServerContext* /*context*/,
                                         const v1::ListStreamsRequest* /*request*/,
                                         v1::ListStreamsResponse* response) {
  for (const auto& stream : all_stats(*daemon_.engine, *daemon_.kept).streams)
    fill_stream(daemon_, stream, *response->add_streams());
  return grpc::Status::OK;
}

grpc::Status ControlService::WatchStats(grpc::ServerContext* context,
                                        const v1::WatchStatsRequest* request,
                                        grpc::ServerWriter<v1::WatchStatsResponse>* writer) {
  const std::chrono::milliseconds interval{request->interval_ms() == 0 ? kIntervalMs
                                                                       : request->interval_ms()};
  if (interval < kIntervalMin || interval > kIntervalMax) {
    return to_grpc(
        Status(Code::kInvalidArgument,
               fmt::format("interval_ms: {} is out of range; allowed: {} to {}", interval.count(),
                           kIntervalMin.count(), kIntervalMax.count())));
  }
  // Before the first answer: a refused watcher costs nothing.
  const auto lease = watchers_.admit(caller_name(*context));
  if (!lease.ok()) return to_grpc(lease.status());
  const std::string& name = request->name();
  v1::WatchStatsResponse seen = snapshot(daemon_, name);
  if (!name.empty() && seen.streams().empty()) {
    return to_grpc(Status(Code::kNotFound, fmt::format("no stream '{}'", sanitize_name(name))));
  }
  // Write fails when the caller has left.
  while (writer->Write(seen)) {
    if (!watchers_.pause(interval, [context] { return context->IsCancelled(); })) break;
    seen = snapshot(daemon_, name);
    // The stream was deleted while it was watched.
    if (!name.empty() && seen.streams().empty()) return grpc::Status::OK;
  }
  // kUnavailable lets a client connect again, to the next daemon.
  return watchers_.stopped() ? to_grpc(Status(Code::kUnavailable, "the daemon is going down"))
                             : to_grpc(Status(Code::kCancelled, "the watcher left"));
}

grpc::Status ControlService::WatchTrace(grpc::ServerContext* context,
                                        const v1::WatchTraceRequest* request,
                                        grpc::ServerWriter<v1::WatchTraceResponse>* writer) {
  audit(*context, "WatchTrace", request->name());
  const TraceCaller caller{
      .name = caller_name(*context),
      .has_left = [context] { return context->IsCancelled(); },
      .send = [writer](const v1::WatchTraceResponse& part) { return writer->Write(part); }};
  return to_grpc(send_trace(*daemon_.engine, watchers_, *request, caller));
}

grpc::Status ControlService::GetState(grpc::ServerContext* /*context*/,
                                      const v1::GetStateRequest* request,
                                      v1::GetStateResponse* response) {
  const auto states = daemon_.engine->states(request->name());
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
  auto keys = daemon_.engine->keys(request->name(),
                                   {request->sample_ids().begin(), request->sample_ids().end()});
  if (!keys.ok()) return to_grpc(keys.status());
  // Keys are file names and can have any bytes; protobuf text must be UTF-8.
  for (const std::string& key : *keys) response->add_keys(to_utf8(key));
  return grpc::Status::OK;
}

grpc::Status ControlService::GetStep(grpc::ServerContext* /*context*/,
                                     const v1::GetStepRequest* request,
                                     v1::GetStepResponse* response) {
  const auto rows = daemon_.engine->step(request->name(), request->epoch(), request->step(),
                                         request->batch_size());
  if (!rows.ok()) return to_grpc(rows.status());
  for (const engine::SampleUse& row : *rows) {
    response->add_sample_ids(row.sample);
    response->add_uses(row.use);
  }
  return grpc::Status::OK;
}

}  // namespace echoline::serve
