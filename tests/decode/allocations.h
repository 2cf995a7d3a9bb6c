// Counts operator new of this program, for tests of steady states.
#pragma once

#include <atomic>

namespace echoline {

extern std::atomic<long> allocation_count;

}  // namespace echoline
