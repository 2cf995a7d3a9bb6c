// Parses and formats the numbers of a configuration: sizes, times, rates, fractions, thousandths.
// All are exact integers; a value that is not exact is refused. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::config {

// "4096", "12GiB", "1.5MB". Errors name what is allowed ("a size such as 512MiB or 2GB").
Result<std::uint64_t> parse_bytes(std::string_view text);
// Nanoseconds: "30ms", "10s", "5min", "1h"; "0" needs no unit.
Result<std::uint64_t> parse_duration_ns(std::string_view text);
// Bytes per second: "20MB/s".
Result<std::uint64_t> parse_rate(std::string_view text);
// 0.01 or "1%".
Result<double> parse_fraction(std::string_view text);
// "2.5" is 2500; more than three decimals are refused.
Result<std::uint32_t> parse_thousandths(std::string_view text);
Result<std::uint64_t> parse_count(std::string_view text);
Result<double> parse_number(std::string_view text);

// As a user would write them: "12GiB", "1.5GiB", "30ms", "2.5". Sizes and times without a short
// exact form are rounded to three digits.
std::string format_bytes(std::uint64_t bytes);
std::string format_duration(std::uint64_t ns);
std::string format_thousandths(std::uint64_t thousandths);

}  // namespace echoline::config
