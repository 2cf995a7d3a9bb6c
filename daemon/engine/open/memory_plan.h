// How much memory one pass of a stream may take in addition to its ring: for reading ahead and for
// the echo window.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/sample.h"
#include "engine/walk/read_ahead.h"
#include "plan/plan.h"
#include "record/core/data_set.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::engine {

// The sizes of the records of a source.
struct PartSizes {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  double squares = 0;  // sum of the squared differences from the mean
};

struct MemoryPlan {
  ReadAhead::Options read_ahead;
  // Of a shuffle window that is requested as a whole if the read-ahead has room for two; 0: without
  // windows, or where that would save no requests.
  std::uint64_t shuffle_window_bytes = 0;
  // What one pass keeps for echoing: at least (encoded), and at best (in the form that is reused).
  std::uint64_t window_floor_bytes = 0;
  std::uint64_t window_wish_bytes = 0;
  std::vector<PartSizes> window_parts = {};  // what the first of these was computed from
};

// `row_types` are those of the finished rows; `kept_bytes` is the mean size of a sample that an
// echo keeps. `growth`: the bytes that arrive for each encoded byte; more than 1 where they are
// decoded already. `chunk_bytes`: of encoded records that wait for each other.
MemoryPlan plan_memory(const v1::Read& read, const record::DataSet& data_set,
                       const plan::Plan& plan, const std::vector<decode::FieldType>& row_types,
                       std::uint64_t kept_bytes, double growth, std::uint64_t chunk_bytes);

// The encoded records of the echo window, if the sources of a mixture have these weights.
std::uint64_t window_floor_bytes(const std::vector<PartSizes>& parts, const plan::Plan& plan,
                                 const std::vector<std::uint32_t>& weights);

}  // namespace echoline::engine
