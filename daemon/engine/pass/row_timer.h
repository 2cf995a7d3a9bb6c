// Times a row step by step, for the account of the steps and for a trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "batch/step_sampler.h"
#include "engine/open/step_account.h"
#include "trace/recorder.h"

namespace echoline::engine {

// Of one row, or of rows that are made together, on their worker. Times them if their turn has
// come, or if the stream is traced.
class RowTimer {
 public:
  RowTimer(batch::StepSampler& sampler, trace::Recorder& recorder, std::size_t worker);
  // Without `count`, no row was made: bytes are missing, or a record cannot be decoded.
  ~RowTimer() {
    if (runs_) end();
  }
  RowTimer(const RowTimer&) = delete;
  RowTimer& operator=(const RowTimer&) = delete;

  // What the row is, for the trace. Of rows that are made together, each lasts until the next one
  // is noted, and the first one begins with what is done for all.
  void note_row(std::uint32_t pass, std::uint64_t batch, std::uint32_t row, std::uint64_t record,
                std::uint32_t use) {
    if (is_traced_) rows_.push_back({{pass, batch, row, record, use}, monotonic_ns()});
  }
  // The row that was noted last was made.
  void note_made() {
    if (is_traced_) rows_.back().made = true;
  }
  // All were made, or of several `rows`.
  void count(std::uint64_t spent_ns, bool first_use, StepAccount& account, std::uint64_t rows = 1);

 private:
  void end();
  void add_to_trace() const;

  batch::StepSampler& sampler_;
  trace::Recorder& recorder_;
  const std::size_t worker_;
  const bool is_timed_;   // for the account
  const bool is_traced_;  // when it began
  bool runs_;
  struct Noted {
    std::array<std::uint64_t, 5> values;
    std::uint64_t begin_ns;
    bool made = false;
  };
  std::vector<Noted> rows_;  // only for a trace
};

}  // namespace echoline::engine
