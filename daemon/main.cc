// echolined: loads the configuration, starts the engine with its streams, opens the door, the
// control service and monitoring, and drains on a stop signal. Wiring only.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/pluralize.h"
#include "config/load.h"
#include "config/values.h"
#include "engine/api/engine.h"
#include "serve/control/control.h"
#include "serve/door/door.h"
#include "serve/door/door_inherited.h"
#include "serve/monitor/monitoring.h"
#include "serve/monitor/version.h"
#include "serve/process/first_streams.h"
#include "serve/process/folders.h"
#include "serve/process/kept_streams.h"
#include "serve/process/notify.h"
#include "serve/process/stop_signal.h"
#include "serve/process/watchdog.h"

namespace echoline {
namespace {

constexpr std::chrono::milliseconds kDrainPatience{5000};
// From the stop signal on; the time after the drain is for control calls, monitoring and threads.
constexpr std::chrono::milliseconds kStopPatience{9000};

struct Options {
  std::string config;
  std::vector<std::string> overrides;
};

void log_ready(const engine::Engine& engine, const v1::Daemon& daemon,
               const serve::HttpServer* monitoring) {
  const engine::EngineStats stats = engine.stats();
  log_info("main", "ready: {}, {} of {} reserved, {}, door in {}, metrics at {}",
           pluralize(stats.streams.size(), "stream"), config::format_bytes(stats.memory_reserved),
           config::format_bytes(stats.memory_budget), pluralize(stats.workers, "worker"),
           daemon.runtime_dir(), monitoring == nullptr ? "off" : monitoring->address());
}

// Runs the daemon from the creation of its streams to the end of the drain. The order matters:
// control and monitoring open first, so that a long start can be watched.
Status serve_until_stopped(engine::Engine& engine, const v1::Config& config,
                           serve::StopSignal& stop) {
  const std::string folder = config.daemon().runtime_dir() + "/";
  std::atomic<bool> draining = false;
  std::atomic<bool> started = false;
  std::atomic<serve::Door*> door_seen = nullptr;
  const auto connections = [&door_seen] {
    const serve::Door* door = door_seen;
    return door == nullptr ? std::size_t{0} : door->connection_count();
  };
  serve::KeptStreams kept(config.daemon().state_dir());
  ECHOLINE_ASSIGN(auto control,
                  serve::ControlServer::open(folder + "control.sock", config.daemon().control(),
                                             {&engine, &kept, connections, &draining, &started}));
  std::unique_ptr<serve::HttpServer> monitoring;
  if (config.daemon().metrics() != "off") {
    ECHOLINE_ASSIGN(monitoring, serve::open_monitoring(config.daemon().metrics(),
                                                       {&engine, &kept, connections, &draining,
                                                        [&control] { return control->counts(); }}));
  }
  ECHOLINE_TRY(serve::create_first_streams(engine, config, kept, stop));
  started = true;
  if (stop.requested()) return Status();
  // After the streams: an earlier trainer would get the error that its stream does not exist.
  ECHOLINE_ASSIGN(const auto door, serve::Door::open(folder + "door.sock", engine));
  door_seen = door.get();
  control->set_serving(true);
  log_ready(engine, config.daemon(), monitoring.get());
  serve::notify_supervisor("READY=1");
  const serve::Watchdog watchdog(
      {[&engine] { return engine.rounds(); }, [&door] { return door->rounds(); }});
  stop.wait();
  draining = true;
  control->set_serving(false);
  serve::notify_supervisor("STOPPING=1");
  door->leave_newcomers_waiting();
  // Trainers that have closed already are not attached when the engine drains.
  door->flush();
  engine.drain(kDrainPatience);
  // They read the door's counters, so they end before it.
  monitoring.reset();
  control.reset();
  return Status();
}

Status run(const Options& options) {
  ECHOLINE_ASSIGN(const v1::Config config,
                  config::load_config_file(options.config, options.overrides));
  const std::string folder = config.daemon().runtime_dir() + "/";
  ECHOLINE_ASSIGN(const auto runtime_dir, serve::RuntimeDir::open(config.daemon().runtime_dir()));
  ECHOLINE_TRY(serve::make_state_dir(config.daemon().state_dir()));
  std::vector<std::string> leftovers = {folder + "control.sock", folder + "door.sock.lock"};
  if (!serve::door_is_inherited()) leftovers.push_back(folder + "door.sock");
  serve::StopSignal stop(kStopPatience, std::move(leftovers));
  ECHOLINE_ASSIGN(const std::unique_ptr<engine::Engine> engine,
                  engine::Engine::create(config.daemon()));
  ECHOLINE_TRY(serve_until_stopped(*engine, config, stop));
  log_info("main", "stopped");
  return Status();
}

int main_with(int argc, char** argv) {
  CLI::App app("Streams, prepares, echoes and shares training batches with this host's trainers.",
               "echolined");
  Options options;
  app.add_option("--config", options.config, "Configuration file (YAML; see docs/config.md)")
      ->required();
  app.add_option("--set", options.overrides, "Override one value, as daemon.workers=4; repeatable")
      ->allow_extra_args(false);
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
  const Status status = run(options);
  if (status.ok()) return 0;
  log_end("echolined", status.message());
  return 1;
}

}  // namespace
}  // namespace echoline

int main(int argc, char** argv) { return echoline::main_with(argc, argv); }
