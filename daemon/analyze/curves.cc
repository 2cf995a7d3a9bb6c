#include "analyze/curves.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace echoline::analyze {
namespace {

constexpr int kPoints = 33;
constexpr double kFactorShown = 8;
constexpr double kStoreShown = 4;  // times faster or slower
constexpr double kGain = 1.01;
constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

using Change = std::function<void(Setting&, double)>;

class Drawer {
 public:
  explicit Drawer(const Measures& measures) : measures_(measures) {}

  Curve draw(Curve curve, const std::vector<double>& values, const Change& change) const {
    curve.now.rate = predict(measures_, present_setting(measures_)).rows;
    for (const double x : values) {
      Setting setting = present_setting(measures_);
      change(setting, x);
      const double rows = predict(measures_, setting).rows;
      if (std::isfinite(rows)) curve.points.push_back({x, rows});
    }
    if (!std::isfinite(curve.now.rate)) curve.points.clear();
    return curve;
  }

 private:
  const Measures& measures_;
};

std::vector<double> even(double from, double to) {
  std::vector<double> values;
  for (int i = 0; i < kPoints; ++i) values.push_back(from + (to - from) * i / (kPoints - 1));
  return values;
}

std::vector<double> workers_shown(const Measures& measures) {
  const std::uint32_t most = std::max(4U, 2 * measures.workers);
  const std::uint32_t step = (most + kPoints - 1) / kPoints;
  std::vector<double> values;
  for (std::uint32_t workers = 1; workers <= most; workers += step) values.push_back(workers);
  return values;
}

// Equal distances on a logarithmic scale.
std::vector<double> scales_shown() {
  std::vector<double> values;
  for (const double power : even(-1, 1)) values.push_back(std::pow(kStoreShown, power));
  return values;
}

}  // namespace

double Curve::most() const {
  double most = 0;
  for (const CurvePoint& point : points) most = std::max(most, point.rate);
  return most;
}

std::vector<Curve> curves_of(const Measures& measures) {
  const Drawer drawer(measures);
  const bool has_echo = measures.place != Place::kNone;
  const Place place = echo_place(measures);
  const std::string factor_title = fmt::format("echo factor at {}", name_of(place));
  std::vector<Curve> curves;
  curves.push_back(drawer.draw(
      {.key = "workers", .title = "workers", .now = {static_cast<double>(measures.workers)}},
      workers_shown(measures),
      [](Setting& one, double x) { one.workers = static_cast<std::uint32_t>(x); }));
  curves.push_back(drawer.draw({.key = "cache.share",
                                .title = "share of the records in caches",
                                .unit = "%",
                                .now = {100 * measures.cached}},
                               even(0, 100), [](Setting& one, double x) { one.cached = x / 100; }));
  curves.push_back(drawer.draw(
      {.key = "echo.factor", .title = factor_title, .now = {has_echo ? measures.factor : 1}},
      even(1, std::max(kFactorShown, measures.factor)), [place](Setting& one, double x) {
        one.place = place;
        one.factor = x;
      }));
  curves.push_back(drawer.draw({.key = "store.rate",
                                .title = "rate of the store, today is 1",
                                .unit = "x",
                                .has_log_scale = true,
                                .now = {1}},
                               scales_shown(),
                               [](Setting& one, double x) { one.store_scale = x; }));
  return curves;
}

std::optional<Curve> most_telling(const std::vector<Curve>& curves) {
  std::optional<Curve> best;
  for (const Curve& curve : curves) {
    const double reached = best ? best->most() : curve.now.rate;
    if (curve.most() > reached * kGain) best = curve;
  }
  return best;
}

std::string x_text(const Curve& curve, double x) {
  return curve.unit == "x" ? fmt::format("x{:.3g}", x) : fmt::format("{:.3g}{}", x, curve.unit);
}

std::string curve_text(const Curve& curve) {
  const double most = curve.most();
  std::string blocks;
  std::size_t today = 0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    // A rate of 0 is the lowest block, the highest rate the full one.
    const auto height = static_cast<std::size_t>(std::lround(point.rate / most * 7));
    blocks += kBlocks.at(std::min<std::size_t>(height, 7));
    const double distance = std::abs(point.x - curve.now.x);
    if (distance < std::abs(curve.points[today].x - curve.now.x)) today = i;
  }
  return fmt::format("curve    {} from {} to {}: {:.1f} to {:.1f} rows/s; ^ is today, {}\n",
                     curve.key, x_text(curve, curve.points.front().x),
                     x_text(curve, curve.points.back().x), curve.points.front().rate,
                     curve.points.back().rate, x_text(curve, curve.now.x)) +
         fmt::format("         {}\n         {}^\n", blocks, std::string(today, ' '));
}

}  // namespace echoline::analyze
