// Measures R (Choi et al., arXiv 1907.05550, section 3.1): the time above the echo point for the
// fresh samples of one batch, divided by the time below it for one batch.
#pragma once

#include <cstdint>

#include "engine/stats/cost_window.h"

namespace echoline::engine {

// Not thread safe. Measures the last seconds of work, so that R follows a store or a trainer that
// becomes slower or faster.
class RatioMeter {
 public:
  struct Options {
    std::uint32_t batch_rows = 0;
    std::uint32_t workers = 1;
    // Mean of the data set: a sample of fetching has at least a batch of such records.
    double record_bytes = 1;
    // Each use decodes its record again (echo before `decode`), so decoding is below the echo
    // point.
    bool decodes_each_use = false;
  };
  // Counters since the stream's creation. Times of workers are sums over all of them.
  struct Totals {
    // Time with requests in flight; bytes, also those of answers that are still arriving. Large
    // answers come side by side and end together: counted at their ends, the rate of a slow store
    // would jump between nothing and all of them.
    CostWindow::Work fetch;
    // What was fetched: it can be larger than the records of the data set, as decoded samples of
    // caches and preparation servers.
    std::uint64_t records = 0;
    std::uint64_t record_bytes = 0;  // of all of them
    CostWindow::Work first;          // time of workers for rows that had to be decoded; rows
    CostWindow::Work again;          // time of workers for rows from kept samples; rows
    CostWindow::Work trained;        // of the trainers themselves (TrainerClock); batches
  };

  explicit RatioMeter(Options options);

  void see(const Totals& totals);
  // 0 while one of the parts was not measured.
  double ratio() const;
  // Its relative standard error. 1: nothing is known.
  double error() const;

 private:
  void see_records(std::uint64_t records, std::uint64_t bytes);
  double fetch_ns() const { return fetch_.cost_ns() * record_bytes_; }  // for one fresh record
  double use_ns() const;     // of workers, for one more use
  double decode_ns() const;  // for one fresh record
  double above_ns() const;   // for one batch
  double below_ns() const;

  const Options options_;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
  double record_bytes_ = 0;  // mean of the last ones
  CostWindow fetch_;
  CostWindow first_;
  CostWindow again_;
  CostWindow trained_;
};

}  // namespace echoline::engine
