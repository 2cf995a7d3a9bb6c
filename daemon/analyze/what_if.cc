#include "analyze/what_if.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
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
  return {Code::kInvalidArgument,
          fmt::format("--what-if: {}={}: allowed is {}", key, value, allowed)};
}

Result<double> number_of(std::string_view key, std::string_view value, double least, double most,
                         std::string_view allowed) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  if (!whole || !(number >= least && number <= most)) return refused(key, value, allowed);
  return number;
}

Status set_count(std::string_view key, std::string_view value, std::uint32_t& count) {
  ECHOLINE_ASSIGN(const double number, number_of(key, value, 1, 1024, "a number from 1 to 1024"));
  count = static_cast<std::uint32_t>(number);
  return count == number ? Status() : refused(key, value, "a whole number");
}

// "x2": twice the present value.
Status set_scale(std::string_view key, std::string_view value, double& scale) {
  constexpr std::string_view kAllowed = "a multiple of the present value from x0.001 to x1000";
  if (!value.starts_with('x')) return refused(key, value, kAllowed);
  ECHOLINE_ASSIGN(scale, number_of(key, value.substr(1), 0.001, 1000, kAllowed));
  return Status();
}

Status set_share(std::string_view key, std::string_view value, double& share) {
  constexpr std::string_view kAllowed = "a share from 0% to 100%";
  if (!value.ends_with('%')) return refused(key, value, kAllowed);
  value.remove_suffix(1);
  ECHOLINE_ASSIGN(const double percent, number_of(key, value, 0, 100, kAllowed));
  share = percent / 100;
  return Status();
}

// Caches evict nothing, so one of c bytes has the share c of the data (docs/caching.md).
Status set_memory(std::string_view key, std::string_view value, const Measures& measures,
                  double& share) {
  const auto bytes = config::parse_bytes(std::string(value));
  if (!bytes.ok()) return refused(key, value, "a size, as 64GiB");
  if (measures.record_bytes == 0) return refused(key, value, "cache.share: the size is unknown");
  share = std::min(1.0, static_cast<double>(*bytes) / static_cast<double>(measures.record_bytes));
  return Status();
}

// "80ms", or "x2": twice the measured one.
Status set_latency(std::string_view key, std::string_view value, const Measures& measures,
                   double& latency) {
  const double measured = measures.requests.answer_seconds;
  if (measured == 0) {
    return {Code::kFailedPrecondition,
            fmt::format("--what-if: {}={}: the latency of the store was not measured: local files "
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

Status set_factor(std::string_view key, std::string_view value, Setting& setting) {
  ECHOLINE_ASSIGN(setting.factor, number_of(key, value, 1, kFactorMax, "a factor from 1 to 64"));
  // As the remedies have it: `sample` where there is no echo step.
  if (setting.place == Place::kNone && setting.factor > 1) setting.place = Place::kSample;
  return Status();
}

Status set_one(std::string_view key, std::string_view value, const Measures& measures,
               Setting& setting) {
  if (key == "workers") return set_count(key, value, setting.workers);
  if (key == "passes") return set_count(key, value, setting.passes);
  if (key == "cache.memory") return set_memory(key, value, measures, setting.cached);
  if (key == "cache.share") return set_share(key, value, setting.cached);
  if (key == "echo.factor") return set_factor(key, value, setting);
  if (key == "echo.place") return set_place(key, value, setting.place);
  if (key == "store.rate") return set_scale(key, value, setting.store_scale);
  if (key == "store.latency") return set_latency(key, value, measures, setting.store_latency);
  if (key == "image.size") return set_scale(key, value, setting.image_scale);
  if (key == "trainers.rate") return set_scale(key, value, setting.trainer_scale);
  return {Code::kInvalidArgument,
          fmt::format("--what-if: '{}' is unknown; there are: {}", key, kKeys)};
}

}  // namespace

Result<Setting> parse_what_if(const std::string& text, const Measures& measures) {
  Setting setting = present_setting(measures);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return Status(Code::kInvalidArgument,
                    fmt::format("--what-if: '{}' is not KEY=VALUE; keys: {}", part, kKeys));
    ECHOLINE_TRY(set_one(trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1)),
                         measures, setting));
  }
  return setting;
}

}  // namespace echoline::analyze
