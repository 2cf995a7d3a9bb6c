#include "engine/stats/ratio_meter.h"

#include <algorithm>
#include <cmath>

namespace echoline::engine {
namespace {

// Requests and steps last up to some tenths of a second: shorter samples would be noise.
constexpr std::uint64_t kSampleNs = 350'000'000;
constexpr std::uint64_t kBatches = 1;
// Of work that takes hardly any time, such as records from a cache.
constexpr std::uint64_t kEnoughBatches = 128;
// A trainer's steps are more alike, and it may work only a small part of the time.
constexpr std::uint64_t kTrainedNs = 200'000'000;
constexpr std::uint64_t kTrainedBatches = 4;

// The mean size of a record is that of about the last batches: it follows a mixture whose weights
// change.
constexpr std::uint64_t kMeanBatches = 32;

CostWindow::Sample of_bytes(const RatioMeter::Options& options) {
  const double batch_bytes = std::max(1.0, options.batch_rows * options.record_bytes);
  return {.least = {kSampleNs, static_cast<std::uint64_t>(kBatches * batch_bytes)},
          .enough_units = static_cast<std::uint64_t>(kEnoughBatches * batch_bytes)};
}

CostWindow::Sample of_rows(const RatioMeter::Options& options) {
  return {.least = {kSampleNs, kBatches * options.batch_rows},
          .enough_units = kEnoughBatches * options.batch_rows};
}

}  // namespace

RatioMeter::RatioMeter(Options options)
    : options_(options),
      fetch_(of_bytes(options)),
      first_(of_rows(options)),
      again_(of_rows(options)),
      trained_({.least = {kTrainedNs, kTrainedBatches}}) {}

void RatioMeter::see(const Totals& totals) {
  see_records(totals.records, totals.record_bytes);
  fetch_.see(totals.fetch);
  first_.see(totals.first);
  again_.see(totals.again);
  trained_.see(totals.trained);
}

void RatioMeter::see_records(std::uint64_t records, std::uint64_t bytes) {
  if (records == records_) return;
  const auto kept = static_cast<double>(std::min(records_, kMeanBatches * options_.batch_rows));
  const auto more_records = static_cast<double>(records - records_);
  const auto more_bytes = static_cast<double>(bytes - bytes_);
  record_bytes_ = (kept * record_bytes_ + more_bytes) / (kept + more_records);
  records_ = records;
  bytes_ = bytes;
}

double RatioMeter::use_ns() const {
  return options_.decodes_each_use ? first_.cost_ns() : again_.cost_ns();
}

// Decoding is spread over the workers.
double RatioMeter::decode_ns() const {
  return std::max(0.0, first_.cost_ns() - use_ns()) / options_.workers;
}

// Fetching and decoding run at the same time, so the slower of both counts.
double RatioMeter::above_ns() const {
  return options_.batch_rows * std::max(fetch_ns(), decode_ns());
}

// In the same way: the trainer's own time for a batch, or the workers' time for its uses.
double RatioMeter::below_ns() const {
  return std::max(trained_.cost_ns(), options_.batch_rows * use_ns() / options_.workers);
}

double RatioMeter::ratio() const {
  // Each part must have been measured once: a division by zero, or a ratio of noise, otherwise.
  if (!fetch_.has_seen_units() || first_.cost_ns() == 0 || trained_.cost_ns() == 0) return 0;
  return std::max(1.0, above_ns()) / below_ns();
}

double RatioMeter::error() const {
  const double above = fetch_ns() >= decode_ns() ? fetch_.error() : first_.error();
  return std::min(1.0, std::hypot(above, trained_.error()));
}

}  // namespace echoline::engine
