#include "engine/stats/ratio_meter.h"

#include <algorithm>

namespace echoline::engine {
namespace {

// A second of work: requests and steps last up to some tenths of a second, and a sample with a few
// of them would be noise.
constexpr std::uint64_t kSampleNs = 1'000'000'000;
constexpr std::uint64_t kBatches = 2;

}  // namespace

RatioMeter::RatioMeter(Options options)
    : options_(options),
      fetch_({kSampleNs, kBatches * options.batch_rows}),
      first_({kSampleNs, kBatches * options.batch_rows}),
      again_({kSampleNs, kBatches * options.batch_rows}),
      trained_({kSampleNs, kBatches}) {}

void RatioMeter::see(const Totals& totals) {
  fetch_.see(totals.fetch);
  first_.see(totals.first);
  again_.see(totals.again);
  trained_.see(totals.trained);
}

double RatioMeter::use_ns() const {
  return options_.decodes_each_use ? first_.cost_ns() : again_.cost_ns();
}

// Fetching and decoding run at the same time, so the slower of both counts. Decoding is spread over
// the workers.
double RatioMeter::above_ns() const {
  const double decode_ns = std::max(0.0, first_.cost_ns() - use_ns()) / options_.workers;
  return options_.batch_rows * std::max(fetch_.cost_ns(), decode_ns);
}

// In the same way: the trainer's own time for a batch, or the workers' time for its uses.
double RatioMeter::below_ns() const {
  return std::max(trained_.cost_ns(), options_.batch_rows * use_ns() / options_.workers);
}

double RatioMeter::ratio() const {
  // Each part must have been measured once: a division by zero, or a ratio of noise, otherwise.
  if (fetch_.cost_ns() == 0 || first_.cost_ns() == 0 || trained_.cost_ns() == 0) return 0;
  return above_ns() / below_ns();
}

bool RatioMeter::is_steady() const { return fetch_.is_steady() && trained_.is_steady(); }

}  // namespace echoline::engine
