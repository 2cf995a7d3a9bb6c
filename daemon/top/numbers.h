// Formats numbers in few characters, for columns and sentences. Pure functions; NaN is "-".
#pragma once

#include <string>

namespace echoline::top {

// "0", "0.3", "4", "42", "12.3k", "1.2M": at most five characters below 10^12.
std::string count_text(double count);
// "0%", "<1%", "43%".
std::string percent_text(double share);
// "117MiB/s".
std::string bytes_rate_text(double bytes_per_second);
// "45ms".
std::string seconds_text(double seconds);

}  // namespace echoline::top
