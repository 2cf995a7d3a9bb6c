// A job, by what makes it one.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace echoline::engine {

// Trainers that split one sequence of batches among them. Those that differ in any of these walk
// the stream on their own.
struct Job {
  std::string name;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;  // of all ranks together
  auto operator<=>(const Job&) const = default;
};

}  // namespace echoline::engine
