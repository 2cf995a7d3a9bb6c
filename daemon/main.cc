// echolined: loads the configuration, starts the engine with its streams, opens the door, the
// control service and monitoring, and drains on a stop signal. Wiring only.
#include <malloc.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/log.h"
#include "base/pluralize.h"
#include "base/system_limit.h"
#include "config/error_location.h"
#include "config/load.h"
#include "config/values.h"
#include "engine/api/engine.h"
#include "serve/control/control.h"
#include "serve/control/tls_files.h"
#include "serve/door/door.h"
#include "serve/door/door_inherited.h"
#include "serve/monitor/monitoring.h"
#include "serve/monitor/version.h"
#include "serve/preparation/preparation_server.h"
#include "serve/process/first_streams.h"
#include "serve/process/folders.h"
#include "serve/process/idle_exit.h"
#include "serve/process/kept_streams.h"
#include "serve/process/notify.h"
#include "serve/process/stop_signal.h"
#include "serve/process/thread_limit.h"
#include "serve/process/watchdog.h"

namespace echoline {
namespace {

constexpr std::chrono::milliseconds kDrainPatience{5000};
// From the stop signal on; the time after the drain is for control calls, monitoring and threads.
constexpr std::chrono::milliseconds kStopPatience{9000};
// For streams that are still being opened. Nothing of theirs has to be finished.
constexpr std::chrono::milliseconds kOpeningPatience{500};

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  std::string private_state_dir;  // empty: no private daemon
};

// What --private means. Addresses would collide with those of other daemons of the host.
v1::Daemon defaults_of(const Options& options) {
  constexpr std::uint64_t kIdleNs = 60'000'000'000;
  v1::Daemon defaults;
  if (options.private_state_dir.empty()) return defaults;
  defaults.set_state_dir(options.private_state_dir);
  defaults.set_metrics("off");
  defaults.set_exit_when_idle(kIdleNs);
  return defaults;
}

void log_ready(const engine::Engine& engine) {
  const engine::EngineStats stats = engine.stats();
  log_info("main", "ready: {}, {} of {} reserved, {}", pluralize(stats.streams.size(), "stream"),
           config::format_bytes(stats.memory_reserved), config::format_bytes(stats.memory_budget),
           pluralize(stats.workers, "worker"));
}

// Runs from the ready streams until the stop signal, or until no trainer came for `idle_ns`.
void serve_until_stopped(const engine::Engine& engine, const serve::Door& door,
                         serve::ControlServer& control, std::uint64_t idle_ns,
                         serve::StopSignal& stop) {
  control.set_serving(true);
  serve::notify_supervisor("READY=1");
  const serve::Watchdog watchdog(
      {[&engine] { return engine.rounds(); }, [&door] { return door.rounds(); }});
  serve::wait_for_stop_or_idle(stop, idle_ns, [&door] { return door.connection_count(); });
  control.set_serving(false);
  serve::notify_supervisor("STOPPING=1");
}

// Null without daemon.serve.
Result<std::unique_ptr<serve::PreparationServer>> open_preparation(engine::Engine& engine,
                                                                   const v1::Serve& settings) {
  if (settings.listen().empty()) return std::unique_ptr<serve::PreparationServer>();
  return serve::PreparationServer::open(settings, engine);
}

// Runs the daemon from the creation of its streams to the end of the drain. The order matters: the
// door, control and monitoring open first, so that trainers can wait for a stream and a long start
// can be watched.
Status run_streams(engine::Engine& engine, const config::LocatedConfig& located,
                   serve::StopSignal& stop) {
  const v1::Config& config = *located.config;
  const std::string folder = config.daemon().runtime_dir() + "/";
  std::atomic<bool> draining = false;
  std::atomic<bool> started = false;
  serve::KeptStreams kept(config.daemon().state_dir());
  // Before the door: a trainer must not get the error that its stream does not exist.
  ECHOLINE_ASSIGN(const auto streams, serve::FirstStreams::announce(engine, config, kept, stop));
  ECHOLINE_ASSIGN(const auto door, serve::Door::open(folder + "door.sock", engine));
  const auto connections = [&door] { return door->connection_count(); };
  ECHOLINE_ASSIGN(auto control,
                  serve::ControlServer::open(folder + "control.sock", config.daemon().control(),
                                             {&engine, &kept, connections, &draining, &started}));
  ECHOLINE_ASSIGN(const auto preparation, open_preparation(engine, config.daemon().serve()));
  const auto prepared = [&preparation] {
    using Counts = std::optional<serve::PreparationCounts>;
    return preparation == nullptr ? Counts() : Counts(preparation->counts());
  };
  std::unique_ptr<serve::HttpServer> monitoring;
  if (config.daemon().metrics() != "off") {
    ECHOLINE_ASSIGN(monitoring,
                    serve::open_monitoring(config.daemon().metrics(),
                                           {&engine, &kept, connections, &draining,
                                            [&control] { return control->counts(); }, prepared}));
  }
  // Before a stream is open: who starts a private daemon looks for it after attaching.
  log_info("main", "door in {}, metrics at {}", config.daemon().runtime_dir(),
           monitoring == nullptr ? "off" : monitoring->address());
  streams->start();
  const Status status = streams->wait();
  if (status.ok() && !stop.requested()) {
    started = true;
    log_ready(engine);
    serve_until_stopped(engine, *door, *control, config.daemon().exit_when_idle(), stop);
  }
  // Their hosts ask other servers at once.
  if (preparation != nullptr) preparation->stop();
  draining = true;
  door->leave_newcomers_waiting();
  // Trainers that have closed already are not attached when the engine drains.
  door->flush();
  engine.drain(kDrainPatience);
  if (!streams->end(kOpeningPatience)) {
    if (!status.ok()) {
      log_end("echolined", config::at_location(status, config, located.locations).message());
    }
    stop.exit_now(status.ok() ? 0 : 1);
  }
  // They read the door's counters, so they end before it.
  monitoring.reset();
  control.reset();
  return status;
}

// gRPC waits forever for a thread that cannot be started.
Status check_threads_of(const v1::Daemon& daemon) {
  // Its own ones without streams, and those of gRPC.
  constexpr std::size_t kOthers = 32;
  const std::size_t http = daemon.metrics() == "off" ? 0 : serve::kHttpThreads;
  return serve::check_threads(kOthers + daemon.workers() + http);
}

Status run(const config::LocatedConfig& located) {
  const v1::Daemon& daemon = located.config->daemon();
  ECHOLINE_TRY(check_threads_of(daemon));
  const std::string folder = daemon.runtime_dir() + "/";
  ECHOLINE_ASSIGN(const auto runtime_dir, serve::RuntimeDir::open(daemon.runtime_dir()));
  ECHOLINE_TRY(serve::make_state_dir(daemon.state_dir()));
  // Else a wrong file would be noticed at the first change that hosts have to agree upon.
  ECHOLINE_TRY(serve::load_tls(serve::tls_paths(daemon.etcd())).status());
  std::vector<std::string> leftovers = {folder + "control.sock", folder + "door.sock.lock"};
  if (!serve::door_is_inherited()) leftovers.push_back(folder + "door.sock");
  serve::StopSignal stop(kStopPatience, std::move(leftovers));
  ECHOLINE_ASSIGN(const std::unique_ptr<engine::Engine> engine, engine::Engine::create(daemon));
  ECHOLINE_TRY(run_streams(*engine, located, stop));
  log_info("main", "stopped");
  return Status();
}

Status load_and_run(const Options& options) {
  ECHOLINE_ASSIGN(
      const config::LocatedConfig located,
      config::load_located_config_file(options.config, options.overrides, defaults_of(options)));
  return config::at_location(run(located), *located.config, located.locations);
}

Status run_or_say_limit(const Options& options) {
  try {
    return load_and_run(options);
  } catch (const std::system_error& error) {
    return limit_reached(error);
  }
}

int main_with(int argc, char** argv) {
  CLI::App app("Streams, prepares, echoes and shares training batches with this host's trainers.",
               "echolined");
  Options options;
  app.add_option("--config", options.config, "Configuration file (YAML; see docs/config.md)")
      ->required();
  app.add_option("--set", options.overrides, "Override one value, as daemon.workers=4; repeatable")
      ->allow_extra_args(false);
  app.add_option("--private", options.private_state_dir,
                 "Start as a trainer does for itself: state in this folder, no metrics, and an end "
                 "when no trainer "
                 "has been attached for 60 s, unless the configuration has other values");
  app.set_version_flag("--version", std::string("echolined ") + serve::kVersion);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(
        stderr,
        "echolined: {}; start it as 'echolined --config FILE' ('echolined --help' says more)\n",
        error.what());
    return 2;
  }
  // Allocate blocks above 1 MiB with mmap. In malloc's arenas, photos of different sizes would
  // leave holes of about the size of the memory budget. Common photos are smaller than 1 MiB.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // By default, free memory of more than 128 KiB at the end of an arena is given back at once. The
  // next records take it again, and the kernel has to clear it each time.
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  // Without this, gRPC also prints the errors that it returns as a status.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  // A file beyond `ulimit -f` is an error of its write.
  ::signal(SIGXFSZ, SIG_IGN);
  const Status status = run_or_say_limit(options);
  if (status.ok()) return 0;
  log_end("echolined", status.message());
  return 1;
}

}  // namespace
}  // namespace echoline

int main(int argc, char** argv) { return echoline::main_with(argc, argv); }
