#include "analyze/what_if.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "analyze/remedies.h"
#include "base/ascii.h"
#include "config/values.h"

namespace echoline::analyze {
namespace {

constexpr std::string_view kKeys =
    "workers, cache.memory, cache.share, echo.factor, echo.place, store.rate, store.latency, "
    "trainers.rate, image.size, passes";

Status refused(std::string_view key, std::string_view value, std::string_view allowed) {
  return {Code::kInvalidArgument, fmt::format("{}={}: allowed is {}", key, value, allowed)};
}

std::optional<double> number_in(std::string_view text, double least, double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(number >= least && number <= most)) return std::nullopt;
  return number;
}

Status set_count(std::string_view key, std::string_view value, std::uint32_t& count) {
  const std::optional<double> number = number_in(value, 1, 1024);
  if (!number) return refused(key, value, "a number from 1 to 1024");
  count = static_cast<std::uint32_t>(*number);
  return count == *number ? Status() : refused(key, value, "a whole number");
}

// "x2": twice the present value.
Status set_scale(std::string_view key, std::string_view value, double& scale) {
  const auto number =
      value.starts_with('x') ? number_in(value.substr(1), 0.001, 1000) : std::nullopt;
  if (!number) return refused(key, value, "a multiple of the present value from x0.001 to x1000");
  scale = *number;
  return Status();
}

Status set_share(std::string_view key, std::string_view value, double& share) {
  const auto percent =
      value.ends_with('%') ? number_in(value.substr(0, value.size() - 1), 0, 100) : std::nullopt;
  if (!percent) return refused(key, value, "a share from 0% to 100%");
  share = *percent / 100;
  return Status();
}

// Caches evict nothing, so one of c bytes has the share c of the data (docs/caching.md).
Status set_memory(std::string_view key, std::string_view value, const Measures& measures,
                  double& share) {
  const auto bytes = config::parse_bytes(std::string(value));
  if (!bytes.ok()) return refused(key, value, "a size, as 64GiB");
  if (measures.record_bytes == 0) {
    return {Code::kFailedPrecondition,
            fmt::format("{}={}: the size of the data is unknown: ask for cache.share", key, value)};
  }
  share = std::min(1.0, static_cast<double>(*bytes) / static_cast<double>(measures.record_bytes));
  return Status();
}

// "80ms", or "x2": twice the measured one.
Status set_latency(std::string_view key, std::string_view value, const Measures& measures,
                   double& latency) {
  const double measured = measures.requests.answer_seconds;
  if (measured == 0) {
    return {Code::kFailedPrecondition,
            fmt::format("{}={}: the latency of the store was not measured: local files "
                        "have none, and other stores need {} requests (measure for longer with "
                        "--for)",
                        key, value, kRequestsMin)};
  }
  if (value.starts_with('x')) {
    double scale = 1;
    ECHOLINE_TRY(set_scale(key, value, scale));
    latency = scale * measured;
    return Status();
  }
  const auto duration_ns = config::parse_duration_ns(value);
  constexpr double kMost = 600;  // seconds
  latency = duration_ns.ok() ? 1e-9 * static_cast<double>(*duration_ns) : 0;
  if (latency > 0 && latency <= kMost) return Status();
  return refused(key, value,
                 "a time up to 600s, as 80ms, or a multiple of the measured one, as x2");
}

Status set_place(std::string_view key, std::string_view value, Place& place) {
  const auto* found = std::find(std::begin(kPlaceNames), std::end(kPlaceNames), value);
  if (found == std::end(kPlaceNames))
    return refused(key, value, "none, record, sample, augmented or batch");
  place = static_cast<Place>(found - std::begin(kPlaceNames));
  return Status();
}

Status set_factor(std::string_view key, std::string_view value, double& factor) {
  const std::optional<double> number = number_in(value, 1, kFactorMax);
  if (!number) return refused(key, value, fmt::format("a factor from 1 to {:.0f}", kFactorMax));
  factor = *number;
  return Status();
}

Status set_one(std::string_view key, std::string_view value, const Measures& measures,
               Setting& setting) {
  if (key == "workers") return set_count(key, value, setting.workers);
  if (key == "passes") return set_count(key, value, setting.passes);
  if (key == "cache.memory") return set_memory(key, value, measures, setting.cached);
  if (key == "cache.share") return set_share(key, value, setting.cached);
  if (key == "echo.factor") return set_factor(key, value, setting.factor);
  if (key == "echo.place") return set_place(key, value, setting.place);
  if (key == "store.rate") return set_scale(key, value, setting.store_scale);
  if (key == "store.latency") return set_latency(key, value, measures, setting.store_latency);
  if (key == "image.size") return set_scale(key, value, setting.image_scale);
  if (key == "trainers.rate") return set_scale(key, value, setting.trainer_scale);
  return {Code::kInvalidArgument, fmt::format("'{}' is unknown; there are: {}", key, kKeys)};
}

// The values of a question by key.
using Changes = std::map<std::string_view, std::string_view>;

Result<Changes> read_changes(std::string_view text) {
  Changes changes;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = trimmed(text.substr(0, comma));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' is not KEY=VALUE; keys: {}", part, kKeys));
    }
    const std::string_view key = trimmed(part.substr(0, equals));
    if (!changes.emplace(key, trimmed(part.substr(equals + 1))).second) {
      return Status(Code::kInvalidArgument, fmt::format("{} has two values", key));
    }
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  if (changes.contains("cache.memory") && changes.contains("cache.share")) {
    return Status(Code::kInvalidArgument,
                  "cache.memory and cache.share say the same: leave one out");
  }
  return changes;
}

// What a question says of one part of the echo decides about the other one.
Status settle_echo(const Changes& changes, Setting& setting) {
  if (setting.place != Place::kNone) return Status();
  if (!changes.contains("echo.factor")) {
    setting.factor = 1;
  } else if (setting.factor > 1 && changes.contains("echo.place")) {
    return {Code::kInvalidArgument,
            fmt::format("echo.place=none, echo.factor={}: without echo the factor is 1: name a "
                        "place, or leave the factor out",
                        changes.at("echo.factor"))};
  } else if (setting.factor > 1) {
    setting.place = Place::kSample;  // as in the remedies
  }
  return Status();
}

}  // namespace

Result<Setting> parse_what_if(const std::string& text, const Measures& measures) {
  ECHOLINE_ASSIGN(const Changes changes, read_changes(text));
  Setting setting = present_setting(measures);
  for (const auto& [key, value] : changes) ECHOLINE_TRY(set_one(key, value, measures, setting));
  ECHOLINE_TRY(settle_echo(changes, setting));
  return setting;
}

}  // namespace echoline::analyze
