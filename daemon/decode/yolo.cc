// YOLO annotations: a line for each object, a box or an outline.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "decode/annotations.h"
#include "decode/field.h"

namespace echoline::decode {
namespace {

constexpr std::string_view kBetweenWords = " \t\r";
constexpr std::size_t kBoxNumbers = 4;
constexpr std::size_t kOutlineNumbersMin = 6;  // three corners

// The next word of `line`, which it is removed from; empty at the end.
std::string_view next_word(std::string_view& line) {
  const std::size_t first = line.find_first_not_of(kBetweenWords);
  if (first == std::string_view::npos) return line = {};
  const std::size_t length =
      std::min(line.find_first_of(kBetweenWords, first), line.size()) - first;
  const std::string_view word = line.substr(first, length);
  line.remove_prefix(first + length);
  return word;
}

Status refused(std::size_t line, std::string_view what, std::string_view text) {
  return {Code::kInvalidArgument,
          fmt::format("line {} {}: {}", line, what, quoted(std::as_bytes(std::span(text))))};
}

bool is_number(std::string_view word, double& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

bool is_class(std::string_view word) {
  std::uint32_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end;
}

std::array<double, 4> box_of(std::span<const double> values) {
  const double x = values[0], y = values[1], width = values[2], height = values[3];
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

std::array<double, 4> bounds_of(std::span<const double> corners) {
  std::array<double, 4> box{corners[0], corners[1], corners[0], corners[1]};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    double& least = box[i % 2];
    double& most = box[i % 2 + 2];
    least = std::min(least, corners[i]);
    most = std::max(most, corners[i]);
  }
  return box;
}

Status read_line(std::string_view line, std::size_t number, Annotations& out) {
  std::string_view rest = line;
  const std::string_view name = next_word(rest);
  if (!is_class(name)) return refused(number, "does not begin with the number of a class", line);
  const std::size_t begin = out.numbers.size();
  bool numbers = true;
  for (std::string_view word = next_word(rest); numbers && !word.empty(); word = next_word(rest)) {
    numbers = is_number(word, out.numbers.emplace_back());
  }
  const std::span values = std::span(out.numbers).subspan(begin);
  Annotations::Object object;
  if (numbers && values.size() == kBoxNumbers) {
    object.box = box_of(values);
    object.outline.kind = Outline::Kind::kBox;
  } else if (numbers && values.size() >= kOutlineNumbersMin && values.size() % 2 == 0) {
    object.box = bounds_of(values);
    object.outline.kind = Outline::Kind::kShares;
    object.outline.range = {out.polygons.size(), out.polygons.size() + 1};
    out.polygons.push_back({begin, out.numbers.size()});
  } else {
    return refused(number,
                   "is neither a box, `class centre_x centre_y width height`, nor an outline, "
                   "`class x1 y1 x2 y2 x3 y3 ...`",
                   line);
  }
  ECHOLINE_TRY(check_box(object.box, out.objects.size()));
  out.set_name(object, name);
  out.objects.push_back(object);
  return {};
}

}  // namespace

Status read_yolo(std::span<const std::byte> file, std::size_t objects_max, Annotations& out) {
  out.clear();
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.find_first_not_of(kBetweenWords) == std::string_view::npos) continue;
    if (out.objects.size() == objects_max) return too_many_objects(objects_max);
    ECHOLINE_TRY(read_line(line, number, out));
  }
  return {};
}

}  // namespace echoline::decode
