// Three digits are enough for a live view; more would change too often to be read.
#include "top/numbers.h"

#include <fmt/core.h>

#include <cmath>

#include "config/values.h"

namespace echoline::top {

std::string count_text(double count) {
  if (!std::isfinite(count)) return "-";
  if (count < 9.95) {
    const std::string text = fmt::format("{:.1f}", count);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  }
  if (count < 9999.5) return fmt::format("{:.0f}", count);
  for (const char* unit : {"k", "M", "G"}) {
    count /= 1000;
    if (count < 99.95) return fmt::format("{:.1f}{}", count, unit);
    if (count < 999.5) return fmt::format("{:.0f}{}", count, unit);
  }
  return fmt::format("{:.0f}T", count / 1000);
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return "-";
  if (share > 0 && share < 0.01) return "<1%";
  return fmt::format("{:.0f}%", 100 * share);
}

std::string bytes_rate_text(double bytes_per_second) {
  if (!std::isfinite(bytes_per_second)) return "-";
  return config::format_bytes(static_cast<std::uint64_t>(bytes_per_second)) + "/s";
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  // Whole microseconds, the resolution of the daemon's measurements.
  return config::format_duration(static_cast<std::uint64_t>(seconds * 1e6) * 1000);
}

}  // namespace echoline::top
