// Reads one page of a listing, as often as its bytes need to be certain.
#pragma once

#include <cstdint>

#include "source/core/counters.h"
#include "source/http/http_operations.h"
#include "source/store/object_store.h"

namespace echoline::source {

// Blocks; nothing else may be in flight in `operations`. `answers_needed` as Source says: the first
// requests run at once, so that comparing their answers costs no round trip. kDataLoss if no two
// answers are equal.
Result<ListPage> read_page(HttpOperations& operations, ObjectStore& store, const ListQuery& query,
                           std::uint32_t answers_needed, SharedCounters& counters);

}  // namespace echoline::source
