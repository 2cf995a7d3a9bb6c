// A decimal is read as an integer and up to six digits after the point, so sizes, times and factors
// are computed without floating point.
#include "config/values.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace echoline::config {
namespace {

// A millionth of a unit; more digits are probably a mistake.
constexpr std::size_t kDecimalsMax = 6;

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

constexpr std::array kSizeUnits = std::to_array<Unit>({{"", 1},
                                                       {"B", 1},
                                                       {"KB", 1'000},
                                                       {"kB", 1'000},
                                                       {"MB", 1'000'000},
                                                       {"GB", 1'000'000'000},
                                                       {"TB", 1'000'000'000'000},
                                                       {"KiB", 1ULL << 10},
                                                       {"MiB", 1ULL << 20},
                                                       {"GiB", 1ULL << 30},
                                                       {"TiB", 1ULL << 40}});

constexpr std::array kTimeUnits = std::to_array<Unit>({{"ns", 1},
                                                       {"us", 1'000},
                                                       {"ms", 1'000'000},
                                                       {"s", 1'000'000'000},
                                                       {"min", 60'000'000'000},
                                                       {"h", 3'600'000'000'000}});

// "12.5GiB" as 12, "5" and "GiB".
struct Written {
  std::uint64_t whole = 0;
  std::string_view decimals;
  std::string_view suffix;
};

std::size_t digits_at(std::string_view text) {
  // Not a digit, or the end.
  const std::size_t end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

std::optional<Written> split_number(std::string_view text) {
  Written written;
  const std::size_t digits = digits_at(text);
  const auto parsed = std::from_chars(text.data(), text.data() + digits, written.whole);
  if (digits == 0 || parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(digits);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t count = digits_at(text);
    if (count == 0) return std::nullopt;
    written.decimals = text.substr(0, count);
    text.remove_prefix(count);
    // "2.50" and "2.5" are the same.
    while (written.decimals.ends_with('0')) written.decimals.remove_suffix(1);
  }
  // "12 GiB" is allowed.
  while (text.starts_with(' ')) text.remove_prefix(1);
  written.suffix = text;
  return written;
}

// Overflow and fractions of a byte, nanosecond or thousandth give nothing.
// whole.decimals * factor, if that is an integer that fits.
std::optional<std::uint64_t> scale(const Written& written, std::uint64_t factor) {
  if (written.decimals.size() > kDecimalsMax) return std::nullopt;
  std::uint64_t parts = 0;
  std::uint64_t whole_part = 1;
  for (const char digit : written.decimals) {
    parts = parts * 10 + static_cast<std::uint64_t>(digit - '0');
    whole_part *= 10;
  }
  std::uint64_t value = 0;
  std::uint64_t rest = 0;
  if (__builtin_mul_overflow(written.whole, factor, &value)) return std::nullopt;
  if (__builtin_mul_overflow(parts, factor, &rest) || rest % whole_part != 0) return std::nullopt;
  if (__builtin_add_overflow(value, rest / whole_part, &value)) return std::nullopt;
  return value;
}

Result<std::uint64_t> parse_with_units(std::string_view text, std::span<const Unit> units,
                                       std::string_view wanted) {
  if (const auto written = split_number(text)) {
    for (const Unit& unit : units) {
      // Suffixes have an exact spelling: MB and mb could mean different things.
      if (unit.suffix != written->suffix) continue;
      if (const auto value = scale(*written, unit.factor)) return *value;
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' is no whole number that fits; allowed: {}", text, wanted));
    }
  }
  return Status(Code::kInvalidArgument, fmt::format("'{}' is not {}", text, wanted));
}

// Three digits, without trailing zeros after the point.
std::string short_decimal(double value) {
  // As many decimals as make three digits.
  std::string text = fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
  if (text.find('.') == std::string::npos) return text;
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  return parse_with_units(
      text, kSizeUnits,
      "a size such as 512MiB or 2GB (units: B, KB, MB, GB, TB, KiB, MiB, GiB, TiB)");
}

Result<std::uint64_t> parse_duration_ns(std::string_view text) {
  // Zero needs no unit.
  if (text == "0") return std::uint64_t{0};
  return parse_with_units(text, kTimeUnits,
                          "a time such as 30ms or 10s (units: us, ms, s, min, h)");
}

Result<std::uint64_t> parse_rate(std::string_view text) {
  constexpr std::string_view kWanted = "a rate such as 20MB/s or 8MiB/s";
  if (text == "0") return std::uint64_t{0};
  // The error below names a rate and not a size.
  if (text.ends_with("/s")) {
    const auto bytes = parse_with_units(text.substr(0, text.size() - 2), kSizeUnits, kWanted);
    if (bytes.ok()) return *bytes;
  }
  return Status(Code::kInvalidArgument, fmt::format("'{}' is not {}", text, kWanted));
}

Result<double> parse_number(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() ||
      // No "inf" and no "nan".
      !std::isfinite(value)) {
    return Status(Code::kInvalidArgument, fmt::format("'{}' is not a number", text));
  }
  return value;
}

Result<double> parse_fraction(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto value = parse_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!value.ok()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is not a share such as 0.01 or 1%", text));
  }
  return percent ? *value / 100 : *value;
}

Result<std::uint32_t> parse_thousandths(std::string_view text) {
  const auto written = split_number(text);
  if (!written || !written->suffix.empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is not a number such as 2 or 2.5", text));
  }
  const auto value = scale(*written, 1000);
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is finer than a thousandth or too large", text));
  }
  return static_cast<std::uint32_t>(*value);
}

Result<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return Status(Code::kInvalidArgument, fmt::format("'{}' is not a whole number", text));
  }
  return value;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array kBinary = std::to_array<Unit>(
      {{"TiB", 1ULL << 40}, {"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}});
  for (const Unit& unit : kBinary) {
    // The largest unit that is not larger than the value.
    if (bytes < unit.factor) continue;
    return short_decimal(static_cast<double>(bytes) / static_cast<double>(unit.factor)) +
           std::string(unit.suffix);
  }
  return fmt::format("{}B", bytes);
}

std::string format_duration(std::uint64_t ns) {
  if (ns == 0) return "0";
  // From hours down.
  for (std::size_t i = kTimeUnits.size(); i-- > 0;) {
    const Unit& unit = kTimeUnits[i];
    if (ns < unit.factor) continue;
    return short_decimal(static_cast<double>(ns) / static_cast<double>(unit.factor)) +
           std::string(unit.suffix);
  }
  return fmt::format("{}ns", ns);
}

std::string format_thousandths(std::uint64_t thousandths) {
  std::string text = fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace echoline::config
