// `echoline list, show, state, create, delete, drain, set-echo, set-weights`: each makes one call
// of the control service.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/sanitize_name.h"
#include "cli/commands.h"
#include "cli/control_channel.h"
#include "cli/control_client.h"
#include "cli/resolve_paths.h"
#include "cli/stream_text.h"
#include "config/error_location.h"
#include "config/load.h"
#include "config/values.h"

namespace echoline::cli {

Status list_streams(const DaemonOptions& daemon, bool json) {
  ECHOLINE_ASSIGN(const auto streams, ControlClient::open(daemon)->list());
  fmt::print("{}", json ? streams_json(streams) : sanitize_output(streams_table(streams)));
  if (!json) print_other_daemons(daemon);
  return Status();
}

std::vector<std::string> stream_names(const std::string& runtime_dir) {
  constexpr std::chrono::milliseconds kMoment{500};
  std::vector<std::string> names;
  const auto streams =
      ControlClient::open({.runtime_dir = runtime_dir_of(runtime_dir)}, kMoment)->list();
  if (!streams.ok()) return names;
  for (const v1::StreamStatus& stream : *streams) names.push_back(stream.name());
  return names;
}

namespace {

std::string shown(const v1::StreamStatus& stream, bool stall, bool json) {
  if (json) return stall ? stall_json(stream) : stream_json(stream);
  return sanitize_output(stall ? stall_text(stream) : stream_text(stream));
}

}  // namespace

Status show_stream(const DaemonOptions& daemon, const std::string& stream, bool stall, bool json) {
  ECHOLINE_ASSIGN(const auto streams, ControlClient::open(daemon)->list());
  std::vector<std::string> known;
  for (const v1::StreamStatus& one : streams) {
    if (one.name() == stream) {
      fmt::print("{}", shown(one, stall, json));
      return Status();
    }
    known.push_back(one.name());
  }
  return unknown_stream(stream, known);
}

Status show_step(const DaemonOptions& daemon, const std::string& stream,
                 const StepOptions& options) {
  const std::unique_ptr<ControlClient> client = ControlClient::open(daemon);
  v1::GetStepRequest request;
  request.set_name(stream);
  request.set_epoch(options.epoch);
  request.set_step(*options.step);
  request.set_batch_size(options.batch_size);
  ECHOLINE_ASSIGN(const v1::GetStepResponse rows, client->step(request));
  const std::vector<std::uint64_t> samples(rows.sample_ids().begin(), rows.sample_ids().end());
  nlohmann::ordered_json line = {
      {"epoch", options.epoch},
      {"step", *options.step},
      {"sample_ids", samples},
      {"uses", std::vector<std::uint32_t>(rows.uses().begin(), rows.uses().end())},
      {"fresh", std::count(rows.uses().begin(), rows.uses().end(), 0)}};
  if (options.keys) {
    ECHOLINE_ASSIGN(const auto keys, client->keys(stream, samples));
    line["keys"] = keys;
  }
  fmt::print("{}\n", line.dump());
  return Status();
}

Status print_state(const DaemonOptions& daemon, const std::string& stream) {
  ECHOLINE_ASSIGN(const auto states, ControlClient::open(daemon)->states(stream));
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const auto& [job, state] : states) {
    document[job] = nlohmann::ordered_json::parse(state, nullptr, false);
  }
  fmt::print("{}\n", document.dump());
  return Status();
}

Status create_streams(const DaemonOptions& daemon, const CreateOptions& options) {
  ECHOLINE_ASSIGN(const config::LocatedConfig located,
                  config::load_located_config_file(options.file, options.overrides));
  const v1::Config& config = *located.config;
  if (config.streams().empty()) return Status(Code::kNotFound, options.file + ": no streams in it");
  const std::unique_ptr<ControlClient> client = ControlClient::open(daemon);
  const std::map<std::string, v1::Stream> streams(config.streams().begin(), config.streams().end());
  for (const auto& [name, stream] : streams) {
    v1::CreateStreamRequest request;
    request.set_name(name);
    *request.mutable_stream() = stream;
    if (!is_remote(daemon)) {
      resolve_paths(*request.mutable_stream(), std::filesystem::current_path());
    }
    request.set_persist(options.persist);
    ECHOLINE_TRY(config::at_location(client->create(request), config, located.locations));
    fmt::print("created {}{}\n", name, options.persist ? ", kept over restarts" : "");
  }
  return Status();
}

Status delete_stream(const DaemonOptions& daemon, const std::string& stream, bool allow_missing) {
  v1::DeleteStreamRequest request;
  request.set_name(stream);
  request.set_allow_missing(allow_missing);
  ECHOLINE_ASSIGN(const bool deleted, ControlClient::open(daemon)->remove(request));
  fmt::print("{} {}\n", deleted ? "deleted" : "there was no stream", stream);
  return Status();
}

Result<bool> drain_stream(const DaemonOptions& daemon, const std::string& stream,
                          const std::string& patience) {
  ECHOLINE_ASSIGN(const std::uint64_t patience_ns, config::parse_duration_ns(patience));
  const auto patience_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(patience_ns));
  ECHOLINE_ASSIGN(const bool drained, ControlClient::open(daemon)->drain(stream, patience_ms));
  fmt::print(
      "drained {}{}\n", stream,
      drained ? "" : fmt::format("; after {} trainers had not taken all batches yet", patience));
  return drained;
}

// A request without the name of the stream.
Result<v1::SetWeightsRequest> parse_weights(const std::vector<std::string>& weights) {
  v1::SetWeightsRequest request;
  for (const std::string& text : weights) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string source = text.substr(0, equals);
    const auto weight =
        config::parse_thousandths(std::string_view(text).substr(std::min(equals + 1, text.size())));
    if (source.empty() || !weight.ok()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' is no weight of a source; write it as web=0.5, with at most "
                                "three decimals",
                                text));
    }
    if (!request.mutable_weights_thousandths()->insert({source, *weight}).second) {
      return Status(Code::kInvalidArgument, fmt::format("source '{}' is given twice", source));
    }
  }
  return request;
}

// ", for a, b", or nothing.
template <typename Start>
std::string for_jobs(const Start& start) {
  return start.jobs().empty() ? "" : fmt::format(", for {}", fmt::join(start.jobs(), ", "));
}

Status set_echo(const DaemonOptions& daemon, const std::string& stream, const std::string& factor) {
  v1::SetEchoRequest request;
  request.set_name(stream);
  if (factor.empty()) {
    request.set_forget_place(true);
    ECHOLINE_TRY(ControlClient::open(daemon)->set_echo(request).status());
    fmt::print(
        "the place of echo in {} is forgotten; when the stream is opened next, the daemon "
        "measures and chooses again\n",
        stream);
    return Status();
  }
  ECHOLINE_ASSIGN(const std::uint32_t thousandths, config::parse_thousandths(factor));
  request.set_factor_thousandths(thousandths);
  ECHOLINE_ASSIGN(const v1::SetEchoResponse changed,
                  ControlClient::open(daemon)->set_echo(request));
  const std::string is =
      fmt::format("echo factor of {} is {}", stream, config::format_thousandths(thousandths));
  if (changed.starts().empty()) fmt::print("{}; no pass has another one\n", is);
  for (const v1::FactorStart& start : changed.starts()) {
    fmt::print("{} from row {} of epoch {} on (block {}){}\n", is, start.row(), start.epoch(),
               start.block(), for_jobs(start));
  }
  return Status();
}

std::string weights_misuse(const std::vector<std::string>& weights) {
  return parse_weights(weights).status().message();
}

Status set_weights(const DaemonOptions& daemon, const std::string& stream,
                   const std::vector<std::string>& weights) {
  ECHOLINE_ASSIGN(v1::SetWeightsRequest request, parse_weights(weights));
  request.set_name(stream);
  ECHOLINE_ASSIGN(const v1::SetWeightsResponse changed,
                  ControlClient::open(daemon)->set_weights(request));
  const std::string are = fmt::format("weights of {}: {}", stream, fmt::join(weights, ", "));
  if (changed.starts().empty()) fmt::print("{}; no pass has others\n", are);
  for (const v1::WeightStart& start : changed.starts()) {
    fmt::print("{} from row {} of epoch {} on, counted without echo{}\n", are, start.row(),
               start.epoch(), for_jobs(start));
  }
  return Status();
}

}  // namespace echoline::cli
