// Rates are 0 if no time has passed.
#include "cli/read_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/pluralize.h"
#include "config/values.h"

namespace echoline::cli {
namespace {

double per(double amount, double whole) { return whole > 0 ? amount / whole : 0; }

}  // namespace

std::string ReadReport::json() const {
  const nlohmann::ordered_json line = {
      {"batches", batches},
      {"samples", samples},
      {"fresh", fresh},
      {"bytes", bytes},
      {"seconds", seconds},
      {"samples_per_second", per(static_cast<double>(samples), seconds)},
      {"bytes_per_second", per(static_cast<double>(bytes), seconds)},
      {"wait_seconds", to_seconds(wait_ns)},
      {"next_p50_us", next_latency.quantile_ns(0.5) / 1000},
      {"next_p99_us", next_latency.quantile_ns(0.99) / 1000},
      {"cpu_seconds", cpu_seconds}};
  return line.dump();
}

std::string ReadReport::text() const {
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  return fmt::format(
      "{}, {} ({} fresh), {} in {:.2f} s: {:.0f} samples/s, {}/s; waited {:.2f} s "
      "({:.0f}%), next() {:.1f} us in the middle, {:.1f} us at 99%; {:.2f} CPU s ({:.2f} a GB)",
      pluralize(batches, "batch"), pluralize(samples, "sample"), fresh, config::format_bytes(bytes),
      seconds, per(static_cast<double>(samples), seconds),
      config::format_bytes(static_cast<std::uint64_t>(per(static_cast<double>(bytes), seconds))),
      to_seconds(wait_ns), 100 * per(to_seconds(wait_ns), seconds),
      next_latency.quantile_ns(0.5) / 1000, next_latency.quantile_ns(0.99) / 1000, cpu_seconds,
      per(cpu_seconds, gigabytes));
}

}  // namespace echoline::cli
