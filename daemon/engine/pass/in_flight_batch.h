// A batch in the making: its rows, cut into chunks that the workers fill straight into the ring.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "echo/item.h"
#include "echoline/shm/ring_layout.h"
#include "engine/runtime/worker_pool.h"

namespace echoline::engine {

class Pass;

struct InFlightRow {
  std::uint32_t row = 0;  // of the batch
  std::shared_ptr<echo::Item> item;
  std::uint32_t use = 0;
  bool used_again = false;
  std::uint64_t fresh_bytes = 0;  // of its record, if it is first wanted here
};

struct InFlightBatch {
  shm::Descriptor descriptor{};
  // To be prepared: without those of other hosts' lanes; none of a batch that repeats an earlier
  // one.
  std::vector<InFlightRow> rows;
  std::uint32_t others_rows = 0;  // that are not prepared here
  std::uint32_t others_fresh = 0;
  std::vector<std::uint64_t> ragged_bytes;  // [row][field]
  std::int64_t ahead_bytes = 0;             // that it takes beside its records
  std::atomic<std::uint32_t> chunks_left{0};
  std::atomic<std::uint32_t> replaced_rows{0};
  // How many chunks wait for bytes: what a waiting trainer waits for.
  std::atomic<std::uint32_t> chunks_fetching{0};

  bool done() const { return chunks_left.load(std::memory_order_acquire) == 0; }
};

// Rows [begin, end) of a filling. Runs on one worker at a time; comes back when bytes it lacks have
// come.
class Chunk : public Task, public echo::Waiter, public std::enable_shared_from_this<Chunk> {
 public:
  Chunk(std::shared_ptr<Pass> pass, std::shared_ptr<InFlightBatch> filling, std::uint32_t begin,
        std::uint32_t end);

  // Goes to the workers as soon as all its items are there.
  void start();
  void run(std::size_t worker) override;
  void item_ready() override;

 private:
  bool wait_for(echo::Item& item);

  const std::shared_ptr<Pass> pass_;
  const std::shared_ptr<InFlightBatch> filling_;
  std::uint32_t next_;
  const std::uint32_t begin_;
  const std::uint32_t end_;
  std::atomic<std::uint32_t> pending_{0};
};

}  // namespace echoline::engine
