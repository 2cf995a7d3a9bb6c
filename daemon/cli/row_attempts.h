// Makes single rows of an open stream, for `echoline check`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "batch/preparer.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/stream_core.h"
#include "source/core/source.h"

namespace echoline::cli {

// The bytes of a row, or why there is none.
struct MadeRow {
  std::vector<std::string> fields;
  std::string error;
};

// Makes rows as a worker of the daemon does. All calls block. The core must outlive it.
class RowAttempts {
 public:
  static Result<RowAttempts> open(const v1::Stream& stream, const engine::StreamCore& core);

  // The rows of the first uses, in epoch 0, of record `begin` and those after it. One by one, or
  // together, where all begin before one of them goes on. An error: a record cannot be read.
  Result<std::vector<MadeRow>> make(std::uint64_t begin, std::size_t count = 1);

 private:
  RowAttempts(const engine::StreamCore& core, std::vector<std::unique_ptr<source::Source>> sources);

  void run_together(std::uint64_t begin, std::vector<MadeRow>& rows);
  // Runs what is left of the steps.
  Status finish(std::uint64_t record, batch::WorkerScratch& scratch,
                std::vector<std::string>& fields);

  const engine::StreamCore* core_;
  std::vector<std::unique_ptr<source::Source>> sources_;  // by part of the data set
  std::vector<batch::WorkerScratch> scratches_;
};

}  // namespace echoline::cli
