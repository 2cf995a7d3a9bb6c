// COCO's rule for polygons: corners are rounded to fifths of a pixel, edges go from point to point
// of this finer grid, one step along their longer side at a time. Where an edge crosses the middle
// of a column, the column's pixels from there down change between inside and outside.
#include "decode/outline_pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

namespace echoline::decode {
namespace {

using Kind = Outline::Kind;

constexpr std::int64_t kFine = 5;  // points of the finer grid for each pixel
constexpr std::size_t kCornersMin = 3;
constexpr int kDigitsMax = 7;  // of a run length as text, 5 bits each

Status refused(std::size_t object, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("annotation {} has {}", object, what)};
}

struct Point {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

// Truncates towards 0, as the rule does also for negative numbers.
std::int64_t rounded(double value) { return static_cast<std::int64_t>(value + 0.5); }

// One edge of a polygon, whose ends are exchanged if needed so that its longer side grows.
class Edge {
 public:
  Edge(Point from, Point to) {
    const std::int64_t wide = std::abs(to.x - from.x);
    const std::int64_t high = std::abs(to.y - from.y);
    flat_ = wide >= high;
    if (flat_ ? from.x > to.x : from.y > to.y) std::swap(from, to);
    start_ = from;
    steps_ = flat_ ? wide : high;
    const std::int64_t other = flat_ ? to.y - from.y : to.x - from.x;
    slope_ = steps_ == 0 ? 0 : static_cast<double>(other) / static_cast<double>(steps_);
  }

  std::int64_t x_begin() const { return std::min(x_at(0), x_at(steps_)); }
  std::int64_t x_end() const { return std::max(x_at(0), x_at(steps_)); }

  // The upper one of the two points with which the edge goes from x to x + 1, in either direction.
  // It does: x_begin() <= x < x_end().
  std::int64_t y_across(std::int64_t x) const {
    if (flat_) return std::min(y_at(x - start_.x), y_at(x + 1 - start_.x));
    return start_.y + first_beyond(x) - 1;
  }

 private:
  std::int64_t x_at(std::int64_t step) const {
    if (flat_) return start_.x + step;
    return rounded(static_cast<double>(start_.x) + slope_ * static_cast<double>(step));
  }
  std::int64_t y_at(std::int64_t step) const {
    return rounded(static_cast<double>(start_.y) + slope_ * static_cast<double>(step));
  }

  // Of a steep edge: the first step on the other side of x + 1/2. x_at is monotonic.
  std::int64_t first_beyond(std::int64_t x) const {
    const bool grows = slope_ > 0;
    std::int64_t before = 0;  // still on the side of the start
    std::int64_t beyond = steps_;
    while (beyond - before > 1) {
      const std::int64_t middle = before + (beyond - before) / 2;
      ((x_at(middle) > x) == grows ? beyond : before) = middle;
    }
    return beyond;
  }

  Point start_;
  std::int64_t steps_ = 0;
  double slope_ = 0;
  bool flat_ = false;
};

// Adds where the edge crosses columns of the picture, as positions of pixels. False: too many.
bool add_crossings(const Edge& edge, const ImageSize& size, std::uint64_t& budget,
                   std::vector<std::uint64_t>& out) {
  constexpr std::int64_t kMiddle = kFine / 2;
  const std::int64_t first =
      std::max<std::int64_t>(0, edge.x_begin() - kMiddle + kFine - 1) / kFine;
  for (std::int64_t column = first; column < size.width; ++column) {
    const std::int64_t x = column * kFine + kMiddle;
    if (x < edge.x_begin()) continue;
    if (x >= edge.x_end()) break;
    if (budget == 0) return false;
    --budget;
    const double y = (static_cast<double>(edge.y_across(x)) + 0.5) / kFine - 0.5;
    const double row = std::ceil(std::clamp(y, 0.0, static_cast<double>(size.height)));
    out.push_back(static_cast<std::uint64_t>(column) * size.height +
                  static_cast<std::uint64_t>(row));
  }
  return true;
}

struct Polygon {
  std::span<const double> numbers;  // x and y of each corner
  double pixels_x = 1;              // of the unit of x
  double pixels_y = 1;

  std::size_t corners() const { return numbers.size() / 2; }
  double x(std::size_t i) const { return numbers[2 * i] * pixels_x; }
  double y(std::size_t i) const { return numbers[2 * i + 1] * pixels_y; }
};

Status add_polygon(const Polygon& polygon, std::size_t object, const ImageSize& size,
                   std::uint64_t& budget, OutlineScratch& scratch) {
  const std::span<const double> numbers = polygon.numbers;
  if (numbers.size() < kCornersMin * 2 || numbers.size() % 2 != 0) {
    return refused(object, fmt::format("a polygon of {} numbers; it has x and y of each corner, "
                                       "and three corners or more",
                                       numbers.size()));
  }
  for (std::size_t i = 0; i < polygon.corners(); ++i) {
    for (const double place : {polygon.x(i), polygon.y(i)}) {
      if (std::fabs(place) <= kPlaceMax) continue;
      return refused(object, fmt::format("a polygon with the number {}", place));
    }
  }
  const auto corner = [&](std::size_t i) -> Point {
    return {rounded(polygon.x(i) * kFine), rounded(polygon.y(i) * kFine)};
  };
  scratch.edges.clear();
  for (std::size_t i = 0; i < polygon.corners(); ++i) {
    const std::size_t next = (i + 1) % polygon.corners();
    if (add_crossings(Edge(corner(i), corner(next)), size, budget, scratch.edges)) continue;
    return {Code::kResourceExhausted,
            fmt::format("annotation {} has polygons that cross too many columns", object)};
  }
  std::ranges::sort(scratch.edges);
  for (std::size_t i = 0; i < scratch.edges.size(); i += 2) {
    const bool closed = i + 1 < scratch.edges.size();
    scratch.runs.push_back({scratch.edges[i], closed ? scratch.edges[i + 1] : size.pixels()});
  }
  return {};
}

// Adds runs, which are outside and inside in turn, beginning with outside.
class RunList {
 public:
  RunList(const ImageSize& size, std::vector<PixelRun>& out) : pixels_(size.pixels()), out_(out) {}

  // False: more pixels than the picture has.
  bool add(std::uint64_t length) {
    if (length > pixels_ - at_) return false;
    if (inside_ && length > 0) out_.push_back({at_, at_ + length});
    at_ += length;
    inside_ = !inside_;
    return true;
  }
  bool complete() const { return at_ == pixels_; }

 private:
  const std::uint64_t pixels_;
  std::vector<PixelRun>& out_;
  std::uint64_t at_ = 0;
  bool inside_ = false;
};

bool add_numbers(std::span<const double> lengths, RunList& runs) {
  return std::ranges::all_of(lengths, [&](double length) {
    return length >= 0 && length <= UINT32_MAX && length == std::floor(length) &&
           runs.add(static_cast<std::uint64_t>(length));
  });
}

// One number from the text, which loses its bytes: 5 bits in each of the characters from '0' on,
// the lowest ones first; bit 5 says that more follow, the highest bit of the last one is the sign.
bool take_number(std::string_view& text, std::int64_t& number) {
  number = 0;
  for (int digit = 0; digit < kDigitsMax && !text.empty(); ++digit) {
    const int bits = text.front() - '0';
    text.remove_prefix(1);
    if (bits < 0 || bits > 63) return false;
    number |= static_cast<std::int64_t>(bits & 31) << (5 * digit);
    if ((bits & 32) != 0) continue;
    if ((bits & 16) != 0) number -= std::int64_t{1} << (5 * (digit + 1));
    return true;
  }
  return false;
}

// From the fourth length on, a number is the difference to the length before the last one.
bool add_text(std::string_view text, RunList& runs) {
  std::int64_t before[2] = {0, 0};  // the last two lengths
  for (int i = 0; !text.empty(); ++i) {
    std::int64_t length = 0;
    if (!take_number(text, length)) return false;
    if (i > 2) length += before[0];
    if (length < 0 || !runs.add(static_cast<std::uint64_t>(length))) return false;
    before[0] = before[1];
    before[1] = length;
  }
  return true;
}

Status add_runs(const Annotations& found, std::size_t object, const ImageSize& size,
                std::vector<PixelRun>& out) {
  const Outline& outline = found.objects[object].outline;
  if (outline.size[0] != size.height || outline.size[1] != size.width) {
    return refused(object, fmt::format("run lengths for a picture {} high and {} wide; it is {} "
                                       "high and {} wide",
                                       outline.size[0], outline.size[1], size.height, size.width));
  }
  RunList runs(size, out);
  const Range& range = outline.range;
  const bool fits =
      outline.kind == Kind::kText
          ? add_text(std::string_view(found.names).substr(range.begin, range.size()), runs)
          : add_numbers(std::span(found.numbers).subspan(range.begin, range.size()), runs);
  if (fits && runs.complete()) return {};
  return refused(object, "run lengths that are not those of all pixels of its picture");
}

}  // namespace

Status outline_pixels(const Annotations& found, std::size_t number, const ImageSize& size,
                      std::uint64_t& budget, OutlineScratch& scratch) {
  const Outline& outline = found.objects[number].outline;
  scratch.runs.clear();
  if (outline.kind == Kind::kRuns || outline.kind == Kind::kText) {
    return add_runs(found, number, size, scratch.runs);
  }
  if (outline.kind == Kind::kOther) {
    return refused(number, "a segmentation that is neither polygons nor run lengths");
  }
  if (outline.kind == Kind::kBox) {
    return {Code::kInvalidArgument,
            fmt::format("object {} has a box; a mask needs its outline", number)};
  }
  if (outline.range.size() == 0) return refused(number, "no segmentation");
  for (std::size_t i = outline.range.begin; i < outline.range.end; ++i) {
    const Range& range = found.polygons[i];
    Polygon polygon{std::span(found.numbers).subspan(range.begin, range.size())};
    if (outline.kind == Kind::kShares) {
      polygon.pixels_x = size.width;
      polygon.pixels_y = size.height;
    }
    ECHOLINE_TRY(add_polygon(polygon, number, size, budget, scratch));
  }
  return {};
}

}  // namespace echoline::decode
