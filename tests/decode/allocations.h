// Counts the allocations of this program, for tests that the steady state has none.
#pragma once

#include <atomic>

namespace echoline {

extern std::atomic<long> allocation_count;

}  // namespace echoline
