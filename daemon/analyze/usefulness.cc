#include "analyze/usefulness.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "analyze/remedies.h"

namespace echoline::analyze {
namespace {

constexpr std::size_t kLinesMax = 100;

Status refuse_line(std::size_t number, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("line {}: {}", number, why)};
}

Result<Usefulness> parse_line(const std::string& line, std::size_t number) {
  Usefulness use;
  char comma = 0;
  std::string rest;
  std::istringstream words(line);
  const bool reads = static_cast<bool>(words >> use.factor >> comma >> use.fresh);
  const bool allowed =
      use.factor >= 1 && use.factor <= kFactorMax && use.fresh > 0 && use.fresh <= 100;
  if (!reads || comma != ',' || words >> rest || !allowed) {
    return refuse_line(
        number, fmt::format("'{}': allowed is a factor from 1 to {:.0f}, a comma, and the fresh "
                            "records to the target relative to those without echo: 4, 0.31",
                            line.substr(0, 40), kFactorMax));
  }
  if (use.factor == 1 && use.fresh != 1) {
    return refuse_line(number, "factor 1 is a training without echo, which needs 1 by definition");
  }
  return use;
}

// By factor; each with the number of its line.
using Lines = std::map<double, std::pair<std::size_t, Usefulness>>;

Status add_line(const Usefulness& use, std::size_t number, Lines& lines) {
  const auto [found, is_new] = lines.try_emplace(use.factor, number, use);
  if (!is_new) {
    return refuse_line(number, fmt::format("factor {:g} has a value already, in line {}",
                                           use.factor, found->second.first));
  }
  return lines.size() <= kLinesMax
             ? Status()
             : refuse_line(number, fmt::format("more than {} factors", kLinesMax));
}

}  // namespace

Result<std::vector<Usefulness>> parse_usefulness(const std::string& text) {
  Lines lines;
  std::istringstream rest(text);
  std::string line;
  std::size_t number = 1;
  for (; std::getline(rest, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    ECHOLINE_ASSIGN(const Usefulness use, parse_line(line, number));
    ECHOLINE_TRY(add_line(use, number, lines));
  }
  lines.erase(1);
  if (lines.empty()) return refuse_line(number, "the file ends without a factor above 1");
  std::vector<Usefulness> table = {{}};
  for (const auto& [factor, numbered] : lines) table.push_back(numbered.second);
  return table;
}

std::vector<TargetTime> times_to_target(const Measures& measures,
                                        const std::vector<Usefulness>& table) {
  Setting setting = present_setting(measures);
  setting.place = echo_place(measures);
  std::vector<TargetTime> times;
  double seconds_without = 0;
  for (const Usefulness& use : table) {
    setting.factor = use.factor;
    const double fresh_rows = predict(measures, setting).fresh;
    if (!std::isfinite(fresh_rows) || fresh_rows <= 0) return {};
    const double seconds = use.fresh / fresh_rows;
    if (times.empty()) seconds_without = seconds;
    times.push_back({use, fresh_rows, seconds / seconds_without});
  }
  return times;
}

std::string target_text(const std::vector<TargetTime>& times, Place place) {
  if (times.empty()) return {};
  std::string text = fmt::format("{:<8} {:>12} {:>10} {:>15}\n", "FACTOR", "FRESH NEEDED",
                                 "FRESH/S", "TIME TO TARGET");
  for (const TargetTime& one : times) {
    text += fmt::format("{:<8.3g} {:>12.2f} {:>10.1f} {:>15.2f}\n", one.use.factor, one.use.fresh,
                        one.fresh_rows, one.time);
  }
  const auto best =
      std::min_element(times.begin(), times.end(),
                       [](const TargetTime& a, const TargetTime& b) { return a.time < b.time; });
  return text +
         fmt::format(
             "target   factor {:.3g} at {} is the first there, in {:.2f} of the time without "
             "echo\n",
             best->use.factor, name_of(place), best->time);
}

}  // namespace echoline::analyze
