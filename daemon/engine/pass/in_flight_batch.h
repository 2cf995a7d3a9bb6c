// A batch between its plan and its publication: its rows, cut into chunks that the workers write
// straight into the ring.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "echo/item.h"
#include "echoline/shm/ring_layout.h"
#include "engine/pass/in_flight_row.h"
#include "engine/pass/row_turns.h"
#include "engine/runtime/worker_pool.h"

namespace echoline::engine {

class RowMaker;
struct InFlightBatch;

// Rows [begin, end) of a batch. Runs on one worker at a time; when it meets a row whose bytes are
// missing (a replaced record), or whose turn has not come, it waits and runs again.
class Chunk : public Task, public echo::Waiter {
 public:
  Chunk(InFlightBatch& batch, std::uint32_t begin, std::uint32_t end)
      : batch_(batch), next_(begin), begin_(begin), end_(end) {}

  // Queues the chunk as soon as all its items have their bytes.
  void start();
  void run(std::size_t worker) override;
  void item_ready() override;
  // Its turn has come: queues it again, before all others.
  void continue_in_turn();

 private:
  // Shares the batch, which owns this chunk.
  std::shared_ptr<Chunk> shared();
  // The wait of this worker that the chunk has ended, in a trace.
  void trace_idle(std::size_t worker) const;
  // Registers the chunk with an item; false if the bytes are there already.
  bool wait_for(echo::Item& item);

  InFlightBatch& batch_;
  std::uint32_t next_;
  const std::uint32_t begin_;
  const std::uint32_t end_;
  bool tried_together_ = false;
  std::atomic<std::uint32_t> pending_{0};  // items without bytes
};

// Ownership: the pass owns its batches, a batch owns its chunks and shares the row maker. The
// worker pool shares the batch of a queued chunk, and items know their waiting chunks weakly; so a
// pass that ends frees all of it, whatever never arrived.
struct InFlightBatch : std::enable_shared_from_this<InFlightBatch> {
  // Cuts the rows into chunks; each goes to the workers when the bytes of all its rows are there.
  // The descriptor's slot is set before. Once.
  void start_chunks(std::shared_ptr<RowMaker> row_maker, std::uint64_t mean_record_bytes,
                    std::size_t field_count);
  bool done() const { return chunks_left.load(std::memory_order_acquire) == 0; }
  // Bytes of its records are missing.
  bool is_fetching() const { return chunks_fetching.load(std::memory_order_relaxed) > 0; }

  shm::Descriptor descriptor{};
  // The rows to be prepared here. Rows of other hosts' lanes are missing; a batch that repeats an
  // earlier one has none.
  std::vector<InFlightRow> rows;
  std::uint32_t others_rows = 0;            // rows of other hosts' lanes
  std::uint32_t others_fresh = 0;           // fresh ones of these
  std::vector<std::uint64_t> ragged_bytes;  // [row][field]
  std::optional<RowTurns> turns;            // if ragged values are written in their final place
  std::int64_t ahead_bytes = 0;             // read-ahead that it takes besides its records
  std::shared_ptr<RowMaker> maker;
  std::deque<Chunk> chunks;
  std::atomic<std::uint32_t> chunks_left{0};
  std::atomic<std::uint32_t> replaced_rows{0};
  std::atomic<std::uint32_t> chunks_fetching{0};  // chunks that wait for bytes
  // For traces:
  std::uint64_t number = 0;                // in its pass; the descriptor's sequence
  std::uint64_t begin_ns = 0;              // when it got its slot
  std::atomic<std::uint64_t> bytes_ns{0};  // when no chunk waited for bytes any more; 0: unknown
  std::atomic<std::uint64_t> made_ns{0};   // the same for the last row
};

}  // namespace echoline::engine
