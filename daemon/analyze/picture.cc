#include "analyze/picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/markup.h"

namespace echoline::analyze {
namespace {

// Pixels. A diagram has room for its title above and for its values below and left.
constexpr double kWidth = 420, kHeight = 260, kTop = 40;
constexpr double kLeft = 60, kRight = 15, kAbove = 34, kBelow = 34;
constexpr int kColumns = 2;

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escape_markup(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* look) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, look);
}

// One diagram, whose upper left corner is at (left, top) of the picture.
class Diagram {
 public:
  Diagram(const Curve& curve, double left, double top, double rate_max)
      : curve_(curve), left_(left), top_(top), rate_max_(rate_max) {}

  std::string svg(double trainer_rows) const {
    std::string svg = text_at(left_ + kLeft, top_ + kAbove - 12, "start",
                              fmt::format("{} over: {}", curve_.quantity, curve_.title));
    if (curve_.points.empty()) {
      return svg + text_at(left_ + kLeft, top_ + kHeight / 2, "start", "unknown");
    }
    svg += axes();
    if (std::isfinite(trainer_rows)) {
      const double y = y_of(trainer_rows);
      svg += line(left_ + kLeft, y, left_ + kWidth - kRight, y,
                  "stroke=\"#999\" stroke-dasharray=\"4 3\"");
      svg += text_at(left_ + kWidth - kRight, y - 4, "end", "what trainers take");
    }
    return svg + polyline() + today();
  }

 private:
  double scaled(double x) const { return curve_.has_log_scale ? std::log(x) : x; }
  double x_of(double x) const {
    const double first = scaled(curve_.points.front().x), last = scaled(curve_.points.back().x);
    return left_ + kLeft + (scaled(x) - first) / (last - first) * (kWidth - kLeft - kRight);
  }
  double y_of(double rate) const {
    return top_ + kHeight - kBelow - rate / rate_max_ * (kHeight - kAbove - kBelow);
  }

  std::string axes() const {
    const double bottom = y_of(0);
    std::string svg =
        line(left_ + kLeft, bottom, left_ + kWidth - kRight, bottom, "stroke=\"#000\"");
    svg += line(left_ + kLeft, bottom, left_ + kLeft, y_of(rate_max_), "stroke=\"#000\"");
    for (const double share : {0.0, 0.5, 1.0}) {
      svg += text_at(left_ + kLeft - 6, y_of(share * rate_max_) + 4, "end",
                     fmt::format("{:.0f}", share * rate_max_));
    }
    const std::size_t last = curve_.points.size() - 1;
    for (const std::size_t i : {std::size_t{0}, last / 2, last}) {
      const double x = curve_.points[i].x;
      svg += text_at(x_of(x), bottom + 18, "middle", x_text(curve_, x));
    }
    return svg;
  }

  std::string polyline() const {
    std::string points;
    for (const CurvePoint& point : curve_.points) {
      points += fmt::format("{:.1f},{:.1f} ", x_of(point.x), y_of(point.rate));
    }
    return fmt::format(
        "<polyline fill=\"none\" stroke=\"#06c\" stroke-width=\"2\" points=\"{}\"/>\n", points);
  }

  std::string today() const {
    const double x = x_of(curve_.now.x), y = y_of(curve_.now.rate);
    // On the side where there is more room.
    const bool is_left = x < left_ + kWidth / 2;
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#c30\"/>\n", x, y) +
           text_at(is_left ? x + 7 : x - 7, y + 14, is_left ? "start" : "end",
                   fmt::format("today: {}, {:.1f}", x_text(curve_, curve_.now.x), curve_.now.rate));
  }

  const Curve& curve_;
  const double left_, top_, rate_max_;
};

}  // namespace

std::string curves_svg(const std::string& stream, const std::vector<Curve>& curves,
                       const std::vector<Curve>& store_curves, double trainer_rows) {
  double rows_max = std::isfinite(trainer_rows) ? trainer_rows : 0;
  for (const Curve& curve : curves) rows_max = std::max(rows_max, curve.most());
  const std::size_t count = curves.size() + store_curves.size();
  const auto lines = static_cast<double>((count + kColumns - 1) / kColumns);
  const double width = kColumns * kWidth, height = kTop + lines * kHeight;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  svg += text_at(kLeft, 24, "start", fmt::format("Stream {}: rates", stream));
  for (std::size_t i = 0; i < count; ++i) {
    const double left = static_cast<double>(i % kColumns) * kWidth;
    const double top = kTop + static_cast<double>(i / kColumns) * kHeight;
    const bool is_of_store = i >= curves.size();
    const Curve& curve = is_of_store ? store_curves[i - curves.size()] : curves[i];
    // Each store has a scale of its own, and no trainers.
    const double most = std::max(1.0, 1.1 * (is_of_store ? curve.most() : rows_max));
    svg += Diagram(curve, left, top, most)
               .svg(is_of_store ? std::numeric_limits<double>::infinity() : trainer_rows);
  }
  return svg + "</svg>\n";
}

}  // namespace echoline::analyze
