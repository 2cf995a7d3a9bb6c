// Which slot of the ring the next batch goes into: in circular order, or, where batches are
// repeated, any slot whose last planned use every reader has passed.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace echoline::engine {

// Not thread safe.
class SlotPool {
 public:
  struct Slot {
    std::uint32_t slot = 0;
    std::uint64_t arena_row = 0;
  };

  SlotPool(std::uint32_t slot_count, std::uint32_t batch_rows, bool repeats);

  // Without repeats: sequence s uses rows [s * batch_rows, (s + 1) * batch_rows) of the arenas.
  Slot circular(std::uint64_t sequence) const;
  // With repeats: the slot of fresh batch `batch` of `epoch`, or a free one; nothing while none is
  // free. `last_use`: `sequence` is the last descriptor that names it.
  std::optional<Slot> of_batch(std::uint32_t epoch, std::uint64_t batch, std::uint64_t sequence,
                               bool last_use, std::uint64_t released);

 private:
  struct Retired {
    std::uint32_t slot;
    std::uint64_t last_sequence;
  };
  // Frees the retired slots whose last descriptor every reader has released.
  void reclaim(std::uint64_t released);
  Slot at(std::uint32_t slot) const { return {slot, std::uint64_t{slot} * batch_rows_}; }

  const std::uint32_t slot_count_;
  const std::uint32_t batch_rows_;
  std::vector<std::uint32_t> free_;
  std::vector<Retired> retired_;
  std::unordered_map<std::uint64_t, std::uint32_t> kept_;  // by epoch and batch
};

}  // namespace echoline::engine
