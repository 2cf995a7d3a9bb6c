#include "analyze/store_rates.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace echoline::analyze {
namespace {

constexpr double kMegabyte = 1e6;
constexpr double kBarWidth = 20;  // of the highest rate

const StoreRate& highest(const StoreRates& rates) {
  return *std::max_element(
      rates.points.begin(), rates.points.end(),
      [](const auto& a, const auto& b) { return a.bytes_per_second < b.bytes_per_second; });
}

const StoreRate& newest(const StoreRates& rates) {
  return *std::min_element(
      rates.points.begin(), rates.points.end(),
      [](const auto& a, const auto& b) { return a.age_seconds < b.age_seconds; });
}

std::string bar(double rate, double most) {
  if (most <= 0) return "";
  std::string text;
  for (long i = std::lround(std::clamp(rate / most, 0.0, 1.0) * kBarWidth); i > 0; --i) text += "█";
  return text;
}

std::string table_of(const StoreRates& rates, std::uint64_t concurrency) {
  std::string text = fmt::format(
      "rates    of {} by requests in flight, for all streams of the daemon together\n"
      "         {:>8} {:>9} {:>10} {:>8} {:>9}\n",
      rates.endpoint, "REQUESTS", "MB/S", "KB/REQUEST", "WINDOWS", "LAST");
  const double most = highest(rates).bytes_per_second;
  for (const StoreRate& point : rates.points) {
    text += fmt::format("         {:>8.0f} {:>9.1f} {:>10.0f} {:>8} {:>9} {}\n", point.in_flight,
                        point.bytes_per_second / kMegabyte, point.answer_bytes / 1e3, point.windows,
                        fmt::format("{:.0f} s ago", point.age_seconds),
                        bar(point.bytes_per_second, most));
  }
  if (rates.points.size() == 1) {
    text +=
        fmt::format("         this is the only number that was measured; read.concurrency is {}\n",
                    concurrency);
  }
  return text;
}

// Endpoints are addresses, whose scheme needs no room in a picture.
std::string_view host_of(std::string_view endpoint) {
  const std::size_t scheme = endpoint.find("://");
  return scheme == std::string_view::npos ? endpoint : endpoint.substr(scheme + 3);
}

}  // namespace

std::string store_rates_text(const Measures& measures) {
  std::string text;
  for (const StoreRates& rates : measures.store_rates) {
    text += rates.points.empty()
                ? fmt::format(
                      "rates    of {} by requests in flight: none was measured yet; that takes "
                      "more than one request at a time, for at least 0.25 s, with answers of 32 "
                      "KiB and more\n",
                      rates.endpoint)
                : table_of(rates, measures.concurrency);
  }
  return text;
}

std::vector<Curve> store_curves(const Measures& measures) {
  std::vector<Curve> curves;
  for (const StoreRates& rates : measures.store_rates) {
    if (rates.points.size() < 2) continue;
    Curve& curve = curves.emplace_back();
    curve.key = "store.rates";
    curve.title = fmt::format("requests in flight at {}", host_of(rates.endpoint));
    curve.quantity = "measured MB/s";
    curve.has_log_scale = true;
    for (const StoreRate& point : rates.points) {
      curve.points.push_back({point.in_flight, point.bytes_per_second / kMegabyte});
    }
    curve.now = {newest(rates).in_flight, newest(rates).bytes_per_second / kMegabyte};
  }
  return curves;
}

}  // namespace echoline::analyze
