// Reads and decodes a few records of a data set before its first pass, to learn types and sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "batch/preparer.h"
#include "decode/sample.h"
#include "engine/open/open_data.h"
#include "plan/plan.h"

namespace echoline::engine {

// Both block on the source. If no record can be decoded, the last reason is the error.

struct ProbedTypes {
  std::vector<decode::FieldType> row_types;
  // In the mean: of a decoded record, and of what an echo after it keeps: the same, or what the
  // steps before the echo have made of it.
  std::uint64_t decoded_bytes = 0;
  std::uint64_t kept_bytes = 0;
};

// The types of finished rows: from the steps, and where those leave a shape open, from the first
// good record, with which a few more must agree if batches are made of them. Each source of a
// mixture must have a good record.
Result<ProbedTypes> probe_types(const OpenedData& data, const batch::Preparer& preparer,
                                const plan::Plan& plan, bool makes_batches = true);

// The mean size of a decoded record in a SampleCache: exact where all have one size, else rather
// too large. Looks at records from all over the data set (of compressed shards, the first ones).
Result<std::uint64_t> probe_kept_bytes(const OpenedData& data, const batch::Preparer& preparer);

}  // namespace echoline::engine
