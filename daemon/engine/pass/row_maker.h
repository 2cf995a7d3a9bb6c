// Makes the rows of a pass: what the workers need of it, without the pass itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "echo/item.h"
#include "engine/open/stream_core.h"
#include "engine/pass/chunk_size.h"
#include "engine/pass/in_flight_batch.h"
#include "engine/pass/pass_account.h"
#include "engine/pass/row_group.h"
#include "engine/pass/row_timer.h"
#include "engine/pass/substitutes.h"
#include "ring/ring.h"

namespace echoline::engine {

// A row while a worker makes it.
struct RowWork {
  InFlightBatch& batch;
  std::uint32_t index = 0;        // in batch.rows
  batch::WorkerScratch& scratch;  // of the worker, or of the member
  RowTimer& timer;
  const RowGroup::Member* member = nullptr;  // the row's, where it is one of a group
};

// Shared by the pass and its batches. make_row and make_together are called by workers, stop and
// finish_ragged by the pass.
class RowMaker {
 public:
  // `number`: of the pass, in traces.
  RowMaker(std::shared_ptr<StreamCore> core, std::shared_ptr<ring::Ring> ring,
           std::shared_ptr<PassAccount> account, std::uint32_t number);

  // kNotYet: bytes are missing, or another record has taken the place; call it again when the item
  // is ready.
  enum class Made : std::uint8_t { kDone, kNotYet, kStopped };
  // Prepares row `index` of batch.rows at its place in the ring.
  Made make_row(InFlightBatch& batch, std::uint32_t index, std::size_t worker);
  const ChunkSize& chunk_size() const { return chunk_size_; }
  // Makes those rows of [begin, end) of batch.rows that can be made together, and says so in them.
  // The others are for make_row, also where this has failed.
  void make_together(InFlightBatch& batch, std::uint32_t begin, std::uint32_t end,
                     std::size_t worker);
  // Whether ragged values are written where they stay. Only where nothing is decoded: rows take
  // their places one after the other, and pictures must not wait for each other.
  bool places_in_turn() const { return places_in_turn_; }
  // Completes the ragged fields of a batch whose rows are all made, before it is published: writes
  // the offsets, and moves values together that are not in their places yet.
  void finish_ragged(const InFlightBatch& batch);

  // No row begins after this. Returns when no worker writes into the ring any more.
  void stop();

  WorkerPool& pool() { return *core_->pool; }
  trace::Recorder& recorder() { return *core_->recorder; }
  void wake_pass() { ring_->interrupt(); }

 private:
  // `first_use` is set: whether the row is one of the record's encoded bytes.
  Made fill_row(const RowWork& row, bool& first_use);
  // A step refused only this use of the record: the row gets an item of its own. Whether the
  // refusal counts as a bad record.
  bool separate_use(const RowWork& row, echo::Item& item, bool first_use)
      ECHOLINE_REQUIRES(item.mutex);
  // Makes a group of such rows; returns where the next one begins.
  std::uint32_t make_group(InFlightBatch& batch, std::uint32_t begin, std::uint32_t end,
                           bool of_kept, std::size_t worker);
  // Points ragged fields of a row, whose lengths are known, at their places.
  void place_in_turn(InFlightBatch& batch, const batch::RowTarget& target,
                     batch::WorkerScratch& scratch);
  // Writes sample id, use and flags of a row.
  void write_row_words(InFlightBatch& batch, const InFlightRow& planned, std::uint64_t sample,
                       bool replaced);
  // Adds the time since `begin_ns`, of so many rows, to the counters of their kind.
  void count_time(RowTimer& timer, std::uint64_t begin_ns, bool first_use, std::uint64_t rows);

  const std::shared_ptr<StreamCore> core_;
  const std::shared_ptr<ring::Ring> ring_;
  const std::shared_ptr<PassAccount> account_;
  const std::uint32_t number_;
  const bool places_in_turn_;
  std::atomic<bool> stopping_{false};
  const ChunkSize chunk_size_;
  std::atomic<std::uint32_t> workers_inside_{0};  // workers in make_row
  Substitutes substitutes_;
};

}  // namespace echoline::engine
