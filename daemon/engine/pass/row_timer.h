// Times a row step by step, for the account of the steps and for a trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "batch/step_sampler.h"
#include "engine/open/step_account.h"
#include "trace/recorder.h"

namespace echoline::engine {

// Of one row, on its worker. Times the row if its turn has come, or if the stream is traced.
class RowTimer {
 public:
  RowTimer(batch::StepSampler& sampler, trace::Recorder& recorder, std::size_t worker);
  // A row that was not counted was not made: its bytes are missing, or it cannot be decoded.
  ~RowTimer() {
    if (runs_) end(false);
  }
  RowTimer(const RowTimer&) = delete;
  RowTimer& operator=(const RowTimer&) = delete;

  // What the row is, for the trace.
  void note_row(std::uint32_t pass, std::uint64_t batch, std::uint32_t row, std::uint64_t record,
                std::uint32_t use) {
    row_ = {pass, batch, row, record, use};
    is_noted_ = true;
  }
  // The row was made.
  void count(std::uint64_t spent_ns, bool first_use, StepAccount& account);

 private:
  void end(bool made);
  void add_to_trace(bool made) const;

  batch::StepSampler& sampler_;
  trace::Recorder& recorder_;
  const std::size_t worker_;
  const bool is_timed_;   // for the account
  const bool is_traced_;  // when it began
  bool runs_;
  bool is_noted_ = false;
  std::array<std::uint64_t, 5> row_{};
};

}  // namespace echoline::engine
