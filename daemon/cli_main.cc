// `echoline`: defines the command line and its options. The commands are in daemon/cli.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/sanitize_name.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/control_channel.h"
#include "cli/usage.h"
#include "config/values.h"
#include "serve/monitor/version.h"

namespace echoline::cli {
namespace {

// The values of all options, from parsing until the command has run.
struct Invocation {
  DaemonOptions daemon;
  CheckOptions check;
  IndexOptions index;
  ReadOptions read;
  PackOptions pack;
  StepOptions step;
  TopOptions top;
  AnalyzeOptions analyze;
  TraceOptions trace;
  CreateOptions create;
  std::string stream;
  std::string patience = "5s";
  std::string factor;
  std::vector<std::string> weights;
  bool forget_place = false;
  bool allow_missing = false;
  bool stall = false;
  bool json = false;
  std::function<Status()> run;
  int exit_code = 0;  // if `run` succeeds
};

// Exit code of a drain that ended at its patience, before the trainers had taken everything.
constexpr int kOutOfPatience = 3;

CLI::App& add_command(CLI::App& app, Invocation& call, const std::string& name,
                      const std::string& what, std::function<Status()> run) {
  CLI::App& command = *app.add_subcommand(name, what);
  command.set_version_flag("--version", std::string("echoline ") + serve::kVersion);
  command.callback([&call, run = std::move(run)] { call.run = run; });
  return command;
}

std::string check_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals != 0 && equals != std::string::npos
             ? ""
             : "'" + text + "' is not key.key=value, as in daemon.workers=4";
}

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "Override one value, as daemon.workers=4; repeatable")
      ->check(check_override)
      ->allow_extra_args(false);
}

// A check of options together: `misuse` returns the usage error, or "".
void add_check(CLI::App& command, std::function<std::string()> misuse) {
  command.parse_complete_callback([misuse = std::move(misuse)] {
    const std::string error = misuse();
    if (!error.empty()) throw CLI::ValidationError(error);
  });
}

CLI::Option* add_daemon(CLI::App& command, Invocation& call) {
  return command
      .add_option("--runtime-dir", call.daemon.runtime_dir,
                  "The daemon's runtime folder (else ECHOLINE_RUNTIME_DIR, else the default)")
      ->type_name(kFolderType);
}

// Options of commands that call the control service, whose daemon can be on another host.
void add_control(CLI::App& command, Invocation& call) {
  add_check(command, [&call] { return daemon_misuse(call.daemon); });
  CLI::Option* folder = add_daemon(command, call);
  command
      .add_option("--address", call.daemon.address,
                  "A daemon on another host, as host:port, over TLS (else ECHOLINE_ADDRESS)")
      ->excludes(folder);
  command
      .add_option("--tls-ca", call.daemon.tls_ca,
                  "File of the authority of that daemon's certificate (else ECHOLINE_TLS_CA)")
      ->type_name(kFileType);
  command
      .add_option("--tls-cert", call.daemon.tls_cert,
                  "File of the certificate to show (else ECHOLINE_TLS_CERT)")
      ->type_name(kFileType);
  command
      .add_option("--tls-key", call.daemon.tls_key,
                  "File of that certificate's key (else ECHOLINE_TLS_KEY)")
      ->type_name(kFileType);
}

void add_json(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print JSON"); }

void add_stream_name(CLI::App& command, Invocation& call) {
  command.add_option("STREAM", call.stream, "Name of the stream")->required();
}

// These checks make a bad value a usage error (exit code 2), not a failure (1).
std::string check_duration(const std::string& text) {
  const auto duration = config::parse_duration_ns(text);
  return duration.ok() ? "" : duration.status().message();
}

std::string check_patience(const std::string& text) {
  const auto patience = config::parse_duration_ns(text);
  if (!patience.ok()) return patience.status().message();
  return *patience <= 60'000'000'000 ? "" : "'" + text + "' is more than 60s";
}

std::string check_factor(const std::string& text) {
  const auto factor = config::parse_thousandths(text);
  if (!factor.ok()) return factor.status().message();
  const bool possible = *factor >= 1000 && *factor <= 1'000'000;
  return possible ? "" : "'" + text + "' is not between 1 and 1000";
}

// CLI11's own PositiveNumber names the largest double, 309 digits, as its upper bound.
std::string check_positive(const std::string& text) {
  std::int64_t number = 0;
  // CLI11 reports a text that is no number itself, with the option's name.
  if (!CLI::detail::lexical_cast(text, number) || number > 0) return "";
  return fmt::format("{} is too small; the least is 1", text);
}

void add_file_commands(CLI::App& app, Invocation& call) {
  CLI::App& check_command = add_command(
      app, call, "check", "Validate a configuration and its data; print memory, echo, epochs",
      [&call] { return check(call.check); });
  check_command.add_option("FILE", call.check.file, "Configuration")->required();
  check_command.add_flag("--offline", call.check.offline,
                         "Check the configuration only, not the files and the data that it names");
  add_overrides(check_command, call.check.overrides);
  add_json(check_command, call.check.json);

  CLI::App& index = add_command(app, call, "index", "Build the index of a data set",
                                [&call] { return build_index(call.index); });
  add_check(index, [&call] { return index_misuse(call.index); });
  index.add_option("FILE|URL", call.index.target, "Configuration (.yaml, .yml) or address")
      ->required();
  index.add_flag("--publish", call.index.publish, "Also write the index files next to the data");
  index.add_flag("--checksums", call.index.checksums,
                 "Read all the data again, to store a checksum of every record");
  index.add_option("--format", call.index.format, "Format of an address, as read.format");
  index.add_option("--endpoint", call.index.endpoint, "S3 server of an address, as read.endpoint");
  index.add_option("--region", call.index.region, "Region of an address, as read.region");
  index.add_option("--state-dir", call.index.state_dir, "Where the index is kept")
      ->type_name(kFolderType);
  add_overrides(index, call.index.overrides);
  add_json(index, call.index.json);
}

// CLI11 converts -1 to the largest unsigned number.
std::string check_count(const std::string& text) {
  if (text.starts_with('-')) return fmt::format("{}: steps and seeds count from 0", text);
  const auto count = config::parse_count(text);
  return count.ok() ? "" : count.status().message();
}

void add_step(CLI::App& show, StepOptions& options) {
  auto* step = show.add_option("--step", options.step, "Print the samples of this step as JSON")
                   ->check(check_count);
  show.add_option("--epoch", options.epoch, "The epoch of that step")->needs(step);
  show.add_option("--batch-size", options.batch_size, "The batch size that the step counts in")
      ->check(check_positive)
      ->needs(step);
  show.add_flag("--keys", options.keys, "Also print the keys of the samples")->needs(step);
}

void add_stream_commands(CLI::App& app, Invocation& call) {
  CLI::App& list = add_command(app, call, "list", "List the daemon's streams",
                               [&call] { return list_streams(call.daemon, call.json); });
  CLI::App& show =
      add_command(app, call, "show", "Show one stream, or the samples of a step", [&call] {
        return call.step.step ? show_step(call.daemon, call.stream, call.step)
                              : show_stream(call.daemon, call.stream, call.stall, call.json);
      });
  add_step(show, call.step);
  show.add_flag("--stall", call.stall,
                "Print what delays its trainers now: waits, reads in flight, who holds slots");
  CLI::App& state =
      add_command(app, call, "state", "Print the state of each job, as its trainer would save it",
                  [&call] { return print_state(call.daemon, call.stream); });
  for (CLI::App* command : {&list, &show, &state}) {
    add_json(*command, call.json);
    add_control(*command, call);
  }
  for (CLI::App* command : {&show, &state}) add_stream_name(*command, call);
}

// The commands that change a stream.
void add_changing_commands(CLI::App& app, Invocation& call) {
  CLI::App& create = add_command(app, call, "create", "Create the streams of a configuration",
                                 [&call] { return create_streams(call.daemon, call.create); });
  create.add_option("FILE", call.create.file, "Configuration; its daemon part is not used")
      ->required();
  create.add_flag("--persist", call.create.persist,
                  "Create them again at each start of the daemon, until they are deleted");
  add_overrides(create, call.create.overrides);
  CLI::App& remove = add_command(app, call, "delete", "Delete a stream", [&call] {
    return delete_stream(call.daemon, call.stream, call.allow_missing);
  });
  remove.add_flag("--allow-missing", call.allow_missing, "Succeed if the stream does not exist");
  CLI::App& drain = add_command(
      app, call, "drain",
      "Let the trainers of a stream finish the published batches, and accept no new ones", [&call] {
        const Result<bool> drained = drain_stream(call.daemon, call.stream, call.patience);
        if (drained.ok() && !*drained) call.exit_code = kOutOfPatience;
        return drained.status();
      });
  drain.add_option("--patience", call.patience, "How long to wait for the trainers, at most 60s")
      ->check(check_patience)
      ->capture_default_str();
  CLI::App& set_echo = add_command(
      app, call, "set-echo", "Change the echo factor of the batches that are not begun yet",
      [&call] { return cli::set_echo(call.daemon, call.stream, call.factor); });
  CLI::App& set_weights =
      add_command(app, call, "set-weights",
                  "Change the weights of the sources for rows that are not planned yet",
                  [&call] { return cli::set_weights(call.daemon, call.stream, call.weights); });
  for (CLI::App* command : {&remove, &drain, &set_echo, &set_weights}) {
    add_stream_name(*command, call);
  }
  set_weights
      .add_option("SOURCE=WEIGHT", call.weights,
                  "As web=0.5 code=0.3; other sources of the step 'mix' keep their weights")
      ->required();
  CLI::Option* factor =
      set_echo.add_option("FACTOR", call.factor, "From 1 to echo.max, as 1.5")->check(check_factor);
  set_echo
      .add_flag(
          "--forget-place", call.forget_place,
          "Instead: let the daemon choose the place of 'echo' again when the stream is opened "
          "next, where the pipeline leaves it to the daemon")
      ->excludes(factor);
  for (CLI::App* command : {&create, &remove, &drain, &set_echo, &set_weights}) {
    add_control(*command, call);
  }
  add_check(set_echo, [&call] {
    const bool lacks_factor = call.factor.empty() && !call.forget_place;
    return lacks_factor ? "FACTOR is missing, as 1.5" : daemon_misuse(call.daemon);
  });
  add_check(set_weights, [&call] {
    const std::string misuse = weights_misuse(call.weights);
    return misuse.empty() ? daemon_misuse(call.daemon) : misuse;
  });
}

// The limits that the control service has for the time between two answers.
std::string check_interval(const std::string& text) {
  const auto interval = config::parse_duration_ns(text);
  if (!interval.ok()) return interval.status().message();
  const bool possible = *interval >= 100'000'000 && *interval <= 60'000'000'000;
  return possible ? "" : "'" + text + "' is not between 100ms and 60s";
}

void add_top_command(CLI::App& app, Invocation& call) {
  CLI::App& top =
      add_command(app, call, "top", "Watch the streams: rates, stages, waits, and what limits them",
                  [&call] { return top_streams(call.daemon, call.top); });
  add_control(top, call);
  top.add_option("STREAM", call.top.stream, "Show this stream first; as text, only this one");
  top.add_option("--interval", call.top.interval, "Time between two updates, 100ms to 60s")
      ->check(check_interval)
      ->capture_default_str();
  top.add_option("--count", call.top.count, "Print this many updates as text, then exit")
      ->check(check_positive, "POSITIVE");
  add_json(top, call.top.json);
}

// The interval has to have several batches, and answers come ten times a second.
std::string check_analyze_duration(const std::string& text) {
  const auto duration = config::parse_duration_ns(text);
  if (!duration.ok()) return duration.status().message();
  const bool possible = *duration >= 1'000'000'000 && *duration <= 3600'000'000'000;
  return possible ? "" : "'" + text + "' is not between 1s and 1h";
}

void add_analyze_command(CLI::App& app, Invocation& call) {
  CLI::App& command = add_command(
      app, call, "analyze", "Measure a stream, and predict its rate under other settings",
      [&call] { return analyze_stream(call.daemon, call.stream, call.analyze); });
  add_control(command, call);
  add_check(command, [&call] {
    const std::string misuse = analyze_misuse(call.analyze);
    return misuse.empty() && call.analyze.config.empty() ? daemon_misuse(call.daemon) : misuse;
  });
  add_stream_name(command, call);
  command
      .add_option("--config", call.analyze.config,
                  "Measure the stream of this configuration in a private daemon, which ends with "
                  "the command")
      ->type_name(kFileType)
      ->excludes("--runtime-dir")
      ->excludes("--address");
  add_overrides(command, call.analyze.overrides);
  command
      .add_option("--trainer-rate", call.analyze.trainer_rate,
                  "With --config: rows per second that your trainers take when batches are there")
      ->check(check_positive, "POSITIVE");
  command.add_option("--for", call.analyze.duration, "How long to measure, 1s to 1h")
      ->check(check_analyze_duration)
      ->capture_default_str();
  command
      .add_option("--what-if", call.analyze.what_if,
                  "A question of your own: \"workers=16, cache.memory=64GiB, echo.factor=3\"; "
                  "repeatable")
      ->allow_extra_args(false);
  command.add_option("--svg", call.analyze.svg, "Also write the predicted rates to this picture")
      ->type_name(kFileType);
  command
      .add_option("--usefulness", call.analyze.usefulness,
                  "File of lines \"FACTOR, FRESH\": the fresh records that a training needs with a "
                  "factor, relative to no echo; prints the time to its target by factor")
      ->type_name(kFileType);
  command.add_flag("--let-sleep", call.analyze.let_sleep, "Let idle workers sleep meanwhile");
  add_json(command, call.analyze.json);
}

// The limits of the control service.
std::string check_trace_seconds(const std::string& text) {
  std::int64_t seconds = 0;
  if (!CLI::detail::lexical_cast(text, seconds) || (seconds >= 1 && seconds <= 60)) return "";
  return fmt::format("{} is not between 1 and 60", text);
}

void add_trace_command(CLI::App& app, Invocation& call) {
  CLI::App& command =
      add_command(app, call, "trace",
                  "Record what a stream does, batch by batch and row by row, for ui.perfetto.dev",
                  [&call] { return trace_stream(call.daemon, call.stream, call.trace); });
  add_control(command, call);
  add_stream_name(command, call);
  command.add_option("--seconds", call.trace.seconds, "How long to record, 1 to 60")
      ->check(check_trace_seconds)
      ->capture_default_str();
  command.add_option("--out", call.trace.out, "File to write; default: STREAM.trace.json")
      ->type_name(kFileType);
}

void add_read_place(CLI::App& read, ReadOptions& options) {
  read.add_option("STREAM", options.stream, "Name of the stream")->required();
  read.add_option("--job", options.job, "Name of the job")->capture_default_str();
  read.add_option("--rank", options.rank, "Rank in the job")->capture_default_str();
  read.add_option("--world-size", options.world_size, "Ranks of the job")
      ->check(check_positive, "POSITIVE")
      ->capture_default_str();
  read.add_option("--batch-size", options.batch_size, "Global batch; default: the stream's")
      ->check(check_positive);
  read.add_option("--join", options.join, "Where to start without a state")
      ->check(CLI::IsMember({"start", "current", "next_epoch"}))
      ->capture_default_str();
  read.add_option("--reattach", options.reattach,
                  "How long to wait for a daemon that has gone away")
      ->check(check_duration)
      ->capture_default_str();
  read.add_option("--state", options.state_file, "Start at this saved state")->type_name(kFileType);
  read.add_option("--save-state", options.save_state_file, "Write the state after the last batch")
      ->type_name(kFileType);
}

void add_read_command(CLI::App& app, Invocation& call) {
  ReadOptions& options = call.read;
  CLI::App& read =
      add_command(app, call, "read", "Read a stream as a trainer would, and measure it",
                  [&call] { return read_stream(call.daemon, call.read); });
  add_daemon(read, call);
  add_check(read, [&options] { return read_misuse(options); });
  add_read_place(read, options);
  CLI::Option* batches =
      read.add_option("--batches", options.batches, "Stop after this many batches");
  read.add_option("--epochs", options.epochs, "Stop after this many epochs")
      ->check(check_positive, "POSITIVE")
      ->capture_default_str()
      ->excludes(batches);
  batches->check(check_positive, "POSITIVE");
  read.add_flag("--ids", options.ids,
                "Print a JSON line per batch: the ids and uses of its samples");
  read.add_flag("--keys", options.keys, "Also print the samples' keys");
  read.add_flag("--checksum", options.checksum, "Also print the XXH3 of each field's bytes");
  read.add_flag("--row-checksums", options.row_checksums,
                "Also print the XXH3 of each row of each field");
  add_json(read, options.json);
}

// A size such as "256MiB".
std::string check_bytes(const std::string& text) {
  const auto bytes = config::parse_bytes(text);
  if (!bytes.ok()) return bytes.status().message();
  return *bytes > 0 ? "" : "'" + text + "' is too small; the least is 1B";
}

std::string check_file_name(const std::string& text) {
  const bool plain = !text.empty() && text.find('/') == std::string::npos;
  return plain ? "" : "'" + text + "' is not a file name without folders";
}

void add_pack_command(CLI::App& app, Invocation& call) {
  PackOptions& options = call.pack;
  CLI::App& pack = add_command(
      app, call, "pack", "Pack folders, IDX files or lists of files into shards with an index",
      [&call] { return run_pack(call.pack, call.json); });
  static const std::map<std::string, PackFrom> kinds = {{"auto", PackFrom::kAuto},
                                                        {"idx", PackFrom::kIdx},
                                                        {"folder", PackFrom::kFolder},
                                                        {"list", PackFrom::kList}};
  pack.add_option("INPUT", options.inputs,
                  "Class folder, CSV list of path,label, or IDX images and labels")
      ->required();
  pack.add_option("--output,-o", options.output_dir, "Folder of the shards")
      ->type_name(kFolderType)
      ->required();
  // As words: CLI11's own transformer would print the enum's numbers in the help.
  pack.add_option_function<std::string>(
          "--from", [&options](const std::string& word) { options.from = kinds.at(word); },
          "Kind of the input")
      ->check(CLI::IsMember({"auto", "idx", "folder", "list"}));
  pack.add_option("--name", options.name, "Shards are NAME-000000.tar, ...")
      ->check(check_file_name)
      ->capture_default_str();
  pack.add_option_function<std::string>(
          "--shard-size",
          [&options](const std::string& text) {
            options.shard_bytes_max = *config::parse_bytes(text);
          },
          "Maximum bytes of a shard (256MiB)")
      ->check(check_bytes);
  pack.add_option("--shard-records", options.shard_records_max, "Maximum records of a shard")
      ->check(check_positive);
  pack.add_option("--classes", options.classes, "File of class names, one per line")
      ->type_name(kFileType);
  pack.add_flag("--png", options.png, "IDX images as PNG instead of raw bytes");
  CLI::Option* shuffle = pack.add_flag("--shuffle", options.shuffle, "Shuffle the records first");
  pack.add_option("--seed", options.seed, "Seed of the shuffle")
      ->check(check_count)
      ->needs(shuffle);
  pack.add_flag("--overwrite", options.overwrite, "Replace shards that exist");
  add_json(pack, call.json);
}

// Whether the scripts in deploy/completion call it, as `echoline __complete -- WORDS...`. This is
// not a subcommand, so no help lists it.
bool asks_for_completion(int argc, char** argv) {
  return argc > 2 && std::string_view(argv[1]) == "__complete" && std::string_view(argv[2]) == "--";
}

int main_with(int argc, char** argv) {
  CLI::App app("Checks, indexes, packs, shows and reads streams of training batches.", "echoline");
  app.set_version_flag("--version", std::string("echoline ") + serve::kVersion);
  app.require_subcommand(1);
  Invocation call;
  add_file_commands(app, call);
  add_stream_commands(app, call);
  add_top_command(app, call);
  add_analyze_command(app, call);
  add_trace_command(app, call);
  add_changing_commands(app, call);
  add_read_command(app, call);
  add_pack_command(app, call);
  // Without this, gRPC also prints the errors that it returns as a status.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  if (asks_for_completion(argc, argv)) {
    fmt::print("{}", completion_text(complete(app, {argv + 3, argv + argc}, stream_names)));
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "{}", sanitize_output(usage_error(app, error, {argv + 1, argv + argc})));
    return 2;
  }
  const Status status = call.run();
  if (status.ok() && std::fflush(stdout) == 0) return call.exit_code;
  // It can have texts of others: keys of records, answers of servers and stores.
  fmt::print(stderr, "echoline: {}\n",
             status.ok() ? "cannot write to stdout" : sanitize_text(status.message()));
  return 1;
}

}  // namespace
}  // namespace echoline::cli

int main(int argc, char** argv) { return echoline::cli::main_with(argc, argv); }
