// `echoline analyze`: watches a stream for some seconds and predicts what other settings give.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>

#include "analyze/analysis.h"
#include "analyze/meter.h"
#include "analyze/what_if.h"
#include "base/bounded_file.h"
#include "base/clock.h"
#include "base/sanitize_name.h"
#include "cli/commands.h"
#include "cli/control_client.h"
#include "cli/output_file.h"
#include "cli/paced_trainer.h"
#include "cli/private_daemon.h"
#include "cli/progress_bar.h"
#include "cli/resolve_paths.h"
#include "config/load.h"
#include "config/values.h"

namespace echoline::cli {
namespace {

// Often enough to see when a trainer takes a batch. An answer takes the daemon about a millisecond.
constexpr std::chrono::milliseconds kInterval{100};

// Of a private daemon, which has no streams at first.
constexpr std::chrono::seconds kStartPatience{30};

constexpr std::size_t kTableBytesMax = 64 << 10;

// How a stream is measured.
struct Interval {
  std::uint64_t duration_ns = 0;
  bool keeps_awake = true;  // workers without work
};

Result<std::vector<analyze::Usefulness>> read_usefulness(const std::string& path) {
  if (path.empty()) return std::vector<analyze::Usefulness>();
  ECHOLINE_ASSIGN(const std::string text, read_bounded_file(path, kTableBytesMax));
  auto table = analyze::parse_usefulness(text);
  if (!table.ok()) return table.status().with_context(path);
  return table;
}

// What the daemon allows for one call, and when the next one is due.
constexpr std::uint64_t kAwakeNs = 60'000'000'000;
constexpr std::uint64_t kAwakeAgainNs = 50'000'000'000;

// Keeps the daemon's workers awake until `end_ns`. A row takes longer for workers that sleep, so
// the model would say too little of what busy ones can do.
class AwakeWorkers {
 public:
  AwakeWorkers(ControlClient& client, std::string stream, std::uint64_t end_ns)
      : client_(client), stream_(std::move(stream)), end_ns_(end_ns) {}

  // Call it often. An error: they sleep.
  const Status& renew() {
    const std::uint64_t now_ns = monotonic_ns();
    if (!status_.ok() || now_ns < due_ns_ || now_ns >= end_ns_) return status_;
    const std::chrono::nanoseconds duration(std::min(end_ns_ - now_ns, kAwakeNs));
    status_ = client_.keep_awake(stream_, std::chrono::ceil<std::chrono::milliseconds>(duration));
    due_ns_ = now_ns + kAwakeAgainNs;
    return status_;
  }

 private:
  ControlClient& client_;
  const std::string stream_;
  const std::uint64_t end_ns_;
  std::uint64_t due_ns_ = 0;
  Status status_;
};

// Watches the stream for this time; `trainer`: its own one, or null.
Result<analyze::Measures> measure(const DaemonOptions& daemon, const std::string& stream,
                                  const Interval& interval, const PacedTrainer* trainer) {
  const std::unique_ptr<ControlClient> client = ControlClient::open(daemon);
  const std::uint64_t end_ns = monotonic_ns() + interval.duration_ns;
  AwakeWorkers workers(*client, stream, end_ns);
  Status awake = interval.keeps_awake ? workers.renew() : Status(Code::kCancelled, "--let-sleep");
  const std::unique_ptr<StatsCall> call = client->watch(kInterval);
  analyze::Meter meter(stream);
  do {
    if (interval.keeps_awake) awake = workers.renew();
    auto answer = call->next();
    if (!answer.ok() && meter.has_begun()) {
      return answer.status().with_context("the daemon stopped during the measurement");
    }
    ECHOLINE_TRY(answer.status());
    ECHOLINE_TRY(meter.add(*answer));
    ECHOLINE_TRY(trainer != nullptr ? trainer->status() : meter.attended());
  } while (monotonic_ns() < end_ns);
  ECHOLINE_ASSIGN(analyze::Measures measures, meter.measures());
  measures.awake = std::move(awake);
  return measures;
}

// Returns when the stream is ready; a line on the terminal says how far its index is.
Status create_stream(const DaemonOptions& daemon, const v1::CreateStreamRequest& request) {
  std::future<Status> created =
      std::async(std::launch::async, [&] { return ControlClient::open(daemon)->create(request); });
  const std::unique_ptr<ControlClient> client = ControlClient::open(daemon);
  ProgressLine line;
  while (created.wait_for(kInterval) != std::future_status::ready) {
    const auto streams = client->list();
    if (!streams.ok() || streams->empty() || !streams->front().has_indexing()) continue;
    const v1::Indexing& indexing = streams->front().indexing();
    line.show(fmt::format("{} indexing {}", draw_bar(indexing.bytes_done(), indexing.bytes(), 30),
                          request.name()));
  }
  return created.get();
}

// The stream alone, in a daemon that ends with this call.
Result<analyze::Measures> measure_configuration(const std::string& stream,
                                                const AnalyzeOptions& options,
                                                const Interval& interval) {
  ECHOLINE_ASSIGN(const v1::Config config,
                  config::load_config_file(options.config, options.overrides));
  const auto found = config.streams().find(stream);
  if (found == config.streams().end()) {
    return Status(Code::kNotFound, fmt::format("{}: no stream '{}' in it", options.config, stream));
  }
  v1::CreateStreamRequest request;
  request.set_name(stream);
  *request.mutable_stream() = found->second;
  resolve_paths(*request.mutable_stream(), std::filesystem::current_path());
  ECHOLINE_ASSIGN(const PrivateDaemon started, PrivateDaemon::start(config.daemon()));
  ECHOLINE_TRY(started.await_answer(kStartPatience));
  const DaemonOptions daemon{.runtime_dir = started.runtime_dir()};
  Status created = create_stream(daemon, request);
  if (!created.ok()) return std::move(created).with_context("stream '" + stream + "'");
  const PacedTrainer trainer(started.runtime_dir(), stream, options.trainer_rate);
  ECHOLINE_ASSIGN(analyze::Measures measures, measure(daemon, stream, interval, &trainer));
  // Given, or unknown (0): what a trainer without a pause takes is no rate of a training.
  measures.trainer_rows = options.trainer_rate;
  return measures;
}

}  // namespace

std::string analyze_misuse(const AnalyzeOptions& options) {
  for (const std::string& question : options.what_if) {
    const analyze::Measures any{.requests = {.answer_seconds = 1}, .record_bytes = 1};
    const Status status = analyze::parse_what_if(question, any).status();
    if (!status.ok()) return "--what-if: " + status.message();
  }
  if (!options.config.empty()) return "";
  if (!options.overrides.empty()) return "--set is for a configuration: name it with --config";
  if (options.trainer_rate > 0) {
    return "--trainer-rate is for a stream of a configuration (--config): a running stream has "
           "trainers, whose rate is measured";
  }
  return "";
}

Status analyze_stream(const DaemonOptions& daemon, const std::string& stream,
                      const AnalyzeOptions& options) {
  // Before the measurement: a wrong file costs no time.
  ECHOLINE_ASSIGN(const auto table, read_usefulness(options.usefulness));
  if (!options.svg.empty()) ECHOLINE_TRY(check_output("--svg", options.svg));
  ECHOLINE_ASSIGN(const std::uint64_t duration_ns, config::parse_duration_ns(options.duration));
  const Interval interval{.duration_ns = duration_ns, .keeps_awake = !options.let_sleep};
  ECHOLINE_ASSIGN(const analyze::Measures measures,
                  options.config.empty() ? measure(daemon, stream, interval, nullptr)
                                         : measure_configuration(stream, options, interval));
  const analyze::Analysis analysis = analyze::analyze(stream, measures, options.what_if, table);
  if (!options.svg.empty()) {
    ECHOLINE_TRY(write_output("--svg", options.svg, analyze::analysis_svg(analysis)));
  }
  fmt::print("{}", options.json ? analyze::analysis_json(analysis)
                                : sanitize_output(analyze::analysis_text(analysis)));
  return analyze::refusal_of_all(analysis);
}

}  // namespace echoline::cli
