// The batches that a pass published last: at which of them a reader can begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "echoline/shm/ring_layout.h"
#include "plan/position.h"

namespace echoline::engine {

// Not thread safe. `released` is Ring::released(): what comes before it may be overwritten.
class PublishedBatches {
 public:
  explicit PublishedBatches(std::size_t most) : most_(most) {}

  void add(const shm::Descriptor& descriptor, std::uint64_t sequence);
  void clear() { batches_.clear(); }
  // The sequence of the one with that row.
  std::optional<std::uint64_t> with_row(plan::Position position, std::uint64_t released) const;
  // Nothing if all are released.
  std::optional<std::uint32_t> oldest_epoch(std::uint64_t released) const;

 private:
  struct Batch {
    plan::Position start;
    std::uint32_t rows;
    std::uint64_t sequence;
  };

  const std::size_t most_;  // older descriptors are overwritten
  std::deque<Batch> batches_;
};

}  // namespace echoline::engine
