// A job: what tells one from another.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace echoline::engine {

// Trainers that share one sequence of batches. Jobs that differ in any member read the stream
// independently.
struct Job {
  std::string name;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;  // of all ranks together
  auto operator<=>(const Job&) const = default;
};

}  // namespace echoline::engine
