// Makes single rows of an open stream, for `echoline check`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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

  // The row of the record's first use in epoch 0. An error: the record cannot be read.
  Result<MadeRow> make(std::uint64_t record);

 private:
  RowAttempts(const engine::StreamCore& core, std::unique_ptr<source::Source> source);

  Status fill(std::uint64_t record, std::span<const std::byte> bytes,
              std::vector<std::string>& fields);

  const engine::StreamCore* core_;
  std::unique_ptr<source::Source> source_;
  batch::WorkerScratch scratch_;
};

}  // namespace echoline::cli
