// Random schedules of a whole stream in one thread. A failing one is named by its seed:
//   ECHOLINE_SIMULATION_SEED=17 build/release/tests/simulation/simulation_test
// ECHOLINE_SIMULATION_SECONDS (10 by default) says for how long new seeds are tried,
// ECHOLINE_SIMULATION_FIRST where they begin.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "base/log.h"
#include "simulation/world.h"

namespace echoline::simulation {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string run(std::uint64_t seed, Coverage& sum) {
  Coverage coverage;
  World world(seed);
  std::string fault = world.run(coverage);
  if (!fault.empty()) fault += "; the stream: " + world.describe();
  sum.batches += coverage.batches;
  sum.rows += coverage.rows;
  sum.replaced += coverage.replaced;
  sum.passes += coverage.passes;
  sum.restarts += coverage.restarts;
  sum.skips += coverage.skips;
  sum.factor_changes += coverage.factor_changes;
  sum.store_failures += coverage.store_failures;
  return fault;
}

TEST(Simulation, EveryTrainerGetsThePlansRowsWhateverHappens) {
  Coverage sum;
  if (std::getenv("ECHOLINE_SIMULATION_SEED") != nullptr) {
    EXPECT_EQ(run(number_from("ECHOLINE_SIMULATION_SEED", 0), sum), "");
    return;
  }
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(number_from("ECHOLINE_SIMULATION_SECONDS", 10));
  const std::uint64_t first = number_from("ECHOLINE_SIMULATION_FIRST", 1);
  std::uint64_t seed = first;
  for (; std::chrono::steady_clock::now() < end; ++seed) {
    const std::string fault = run(seed, sum);
    ASSERT_EQ(fault, "") << "replay: ECHOLINE_SIMULATION_SEED=" << seed << " simulation_test";
  }
  fmt::print(
      "{} schedules from seed {}: {} batches, {} rows read, {} replaced, {} passes, {} restarts, "
      "{} skips, {} factor changes, {} store failures\n",
      seed - first, first, sum.batches, sum.rows, sum.replaced, sum.passes, sum.restarts, sum.skips,
      sum.factor_changes, sum.store_failures);
  // The schedules reach what they are for.
  for (const std::uint64_t count :
       {sum.replaced, sum.restarts, sum.skips, sum.factor_changes, sum.store_failures}) {
    EXPECT_GT(count, 0U);
  }
}

}  // namespace
}  // namespace echoline::simulation
