// The rate of a store at each number of requests in flight, as text and as a curve. The daemon
// measures it while it searches for the best number (docs/transfers_internals.md).
#pragma once

#include <string>
#include <vector>

#include "analyze/curves.h"
#include "analyze/measures.h"

namespace echoline::analyze {

// A small table for each endpoint; says so where one number or none was measured. Empty for a
// stream without an endpoint. Pure functions.
std::string store_rates_text(const Measures& measures);
// MB/s over requests in flight, with the number that was measured last as today's. Only of
// endpoints with two points and more.
std::vector<Curve> store_curves(const Measures& measures);

}  // namespace echoline::analyze
