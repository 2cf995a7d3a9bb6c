#include "analyze/echo_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/echo_advice.h"

namespace echoline::analyze {
namespace {

// Factors and rates that differ by less are the same: a share of one.
constexpr double kSame = 0.05;

const char* where_to_write(Place place) {
  switch (place) {
    case Place::kRecord:
      return "before decode";
    case Place::kAugmented:
      return "after the augmentations";
    case Place::kBatch:
      return "after batch";
    case Place::kNone:
    case Place::kSample:
      break;
  }
  return "after decode";
}

// A step for the pipeline.
std::string step_text(const Measures& measures, const EchoRemedy& echo) {
  // So large that no batch has two uses of a record.
  const auto least = static_cast<std::uint64_t>(4 * std::ceil(echo.factor));
  const std::uint64_t batches = std::max(config::kAdvisedBatches, least);
  // After `batch`, the window counts batches.
  const std::uint64_t window = echo.place == Place::kBatch
                                   ? batches
                                   : batches * std::max<std::uint64_t>(1, measures.batch_rows);
  return fmt::format("- echo: {{factor: {:.3g}, window: {}}} {}", echo.factor, window,
                     where_to_write(echo.place));
}

// What a factor beyond the cap would give, and why it is not advised.
std::string beyond_the_cap(const Analysis& analysis, const EchoRemedy& echo) {
  if (echo.uncapped.rows <= (1 + kSame) * echo.prediction.rows) return "";
  const std::string more =
      echo.uncapped.stall < kSame
          ? fmt::format("factor {:.3g} would hide the rest", echo.uncapped_factor)
          : fmt::format("larger factors would give up to {} rows/s", rate_text(echo.uncapped.rows));
  const std::string why =
      analysis.targets.empty()
          ? "beyond 4 to 5, repeats were not shown to be worth as much (docs/echoing.md)"
          : fmt::format("the table of --usefulness ends at {:.3g}", analysis.factor_cap);
  return fmt::format("         {}, but {}\n", more, why);
}

}  // namespace

std::string rate_text(double rate) {
  return std::isfinite(rate) ? fmt::format("{:.1f}", rate) : "unknown";
}

std::string present_echo_text(const Measures& measures) {
  const std::string text =
      fmt::format("echo     {} x {:.3g}", name_of(measures.place), measures.factor);
  return measures.factor == measures.set_factor
             ? text + "\n"
             : text + fmt::format(" in the interval; {:.3g} is set now\n", measures.set_factor);
}

std::string echo_remedy_text(const Analysis& analysis) {
  if (!analysis.remedies.echo) return "";
  const Measures& measured = analysis.measures;
  const EchoRemedy& echo = *analysis.remedies.echo;
  const bool echoes = measured.place != Place::kNone && measured.factor > 1;
  if (!echoes && echo.prediction.rows <= (1 + kSame) * analysis.now.rows) {
    return fmt::format("echo     not needed: it gives less than {:.0f} % more rows\n", 100 * kSame);
  }
  if (echo.factor == 1) {
    return "echo     not needed: without it there are as many rows, and all are fresh\n";
  }
  Setting setting = present_setting(measured);
  setting.place = echo.place;
  setting.factor = echo.factor;
  const std::string gives = fmt::format(
      "{} x {:.3g} gives {} rows/s, {} of them fresh, stall {:.0f} %{}", name_of(echo.place),
      echo.factor, rate_text(echo.prediction.rows), rate_text(echo.prediction.fresh),
      100 * echo.prediction.stall, is_optimistic(measured, setting) ? " (too good)" : "");
  const bool is_present =
      echo.place == measured.place && std::abs(echo.factor / measured.factor - 1) < kSame;
  const std::string sentence =
      is_present ? fmt::format("echo     as today: {}\n", gives)
                 : fmt::format("echo     best is {}: {}\n", step_text(measured, echo), gives);
  return sentence + beyond_the_cap(analysis, echo);
}

}  // namespace echoline::analyze
