// `echoline analyze`: watches a stream for some seconds and predicts what other settings give.
#include <fmt/core.h>

#include "analyze/analysis.h"
#include "analyze/meter.h"
#include "analyze/what_if.h"
#include "base/bounded_file.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/control_client.h"
#include "cli/output_file.h"
#include "config/values.h"

namespace echoline::cli {
namespace {

// Often enough to see when a trainer takes a batch. An answer takes the daemon about a millisecond.
constexpr std::chrono::milliseconds kInterval{100};

constexpr std::size_t kTableBytesMax = 64 << 10;

Result<std::vector<analyze::Usefulness>> read_usefulness(const std::string& path) {
  if (path.empty()) return std::vector<analyze::Usefulness>();
  ECHOLINE_ASSIGN(const std::string text, read_bounded_file(path, kTableBytesMax));
  auto table = analyze::parse_usefulness(text);
  if (!table.ok()) return table.status().with_context(path);
  return table;
}

}  // namespace

Status analyze_stream(const DaemonOptions& daemon, const std::string& stream,
                      const AnalyzeOptions& options) {
  // Before the measurement: a wrong question costs no time.
  for (const std::string& question : options.what_if) {
    ECHOLINE_TRY(analyze::parse_what_if(question, {.record_bytes = 1}).status());
  }
  ECHOLINE_ASSIGN(const auto table, read_usefulness(options.usefulness));
  if (!options.svg.empty()) ECHOLINE_TRY(check_output("--svg", options.svg));
  ECHOLINE_ASSIGN(const std::uint64_t patience_ns, config::parse_duration_ns(options.duration));
  const std::unique_ptr<ControlClient> client = ControlClient::open(daemon);
  const std::unique_ptr<StatsCall> call = client->watch(kInterval);
  analyze::Meter meter(stream);
  const std::uint64_t end_ns = monotonic_ns() + patience_ns;
  do {
    ECHOLINE_ASSIGN(const v1::WatchStatsResponse answer, call->next());
    ECHOLINE_TRY(meter.add(answer));
  } while (monotonic_ns() < end_ns);
  ECHOLINE_ASSIGN(const analyze::Measures measures, meter.measures());
  ECHOLINE_ASSIGN(const analyze::Analysis analysis,
                  analyze::analyze(stream, measures, options.what_if, table));
  if (!options.svg.empty()) {
    ECHOLINE_TRY(write_output("--svg", options.svg, analyze::analysis_svg(analysis)));
  }
  fmt::print("{}",
             options.json ? analyze::analysis_json(analysis) : analyze::analysis_text(analysis));
  return Status();
}

}  // namespace echoline::cli
