// The steps of the writer (daemon) and the readers (trainers) on WriterPage and CursorPage: one
// atomic access each, with its memory order. Both sides and the model checker in tests/ring use
// only these steps; docs/ring_format.md proves that they are correct.
//
// No wake-up is lost, by Dekker's algorithm. There are a flag ("I wait") and a counter, the bell;
// all accesses are sequentially consistent, without fences, which ThreadSanitizer does not support.
// A sleeper sets its flag, then reads the bell. The other side changes the bell, then reads the
// flag. So either the sleeper sees the new bell, or the other side sees the flag and wakes the
// sleeper.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "echoline/shm/futex.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::shm {

// An atomic view of a word. In a read-only mapping call only load().
template <typename T>
std::atomic_ref<T> word(const T& value) {
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  return std::atomic_ref<T>(const_cast<T&>(value));
}

// ---- steps of the writer ----

// W1. Descriptors [0, count) are complete. A reader that sees this value of `published` also sees
// all writes before it.
inline void write_published(WriterPage& writer, std::uint64_t count) {
  word(writer.published).store(count, std::memory_order_release);
}

// W2. Changes the bell, after a publish or a change of state. Only the change matters, not the
// value.
inline void ring_writer_bell(WriterPage& writer) {
  word(writer.bell).fetch_add(1, std::memory_order_seq_cst);
}

// W3. After W2: whether this reader sleeps or is about to. If any reader does, call
// futex_wake_all(&writer.bell).
inline bool reader_waits(const CursorPage& cursor) {
  return word(cursor.waiting_since_ns).load(std::memory_order_seq_cst) != 0;
}

inline void write_state(WriterPage& writer, WriterState state) {
  word(writer.state).store(state, std::memory_order_release);
}

// W8. Appends an entry to a log of changes (FactorLog, WeightLog), before the first descriptor that
// it affects is published (W1). It overwrites the oldest entry, which no reader needs any more.
template <typename Log, typename Entry>
void write_change(Log& log, const Entry& entry) {
  const std::uint64_t count = word(log.count).load(std::memory_order_relaxed);
  log.entries[count % std::size(log.entries)] = entry;
  word(log.count).store(count + 1, std::memory_order_release);
}

// W4. Before and after a sleep on a cursor's bell.
inline void set_writer_waiting(WriterPage& writer, bool waiting) {
  word(writer.waiting).store(waiting ? 1U : 0U, std::memory_order_seq_cst);
}

// W5. After W4 and before the last read of `released`: the value to sleep on.
inline std::uint32_t read_cursor_bell(const CursorPage& cursor) {
  return word(cursor.bell).load(std::memory_order_seq_cst);
}

// W6. A claim of the reader: the daemon checks its range. The reader does not read rows of
// descriptors below it any more.
inline std::uint64_t read_released(const CursorPage& cursor) {
  return word(cursor.released).load(std::memory_order_acquire);
}

// W7. The position of R7 or an earlier one, if the reader follows R7. If it does not, the value
// harms only the reader's own batches.
struct NextPlace {
  std::uint32_t epoch;
  std::uint64_t row;
};
inline NextPlace read_next(const CursorPage& cursor) {
  const std::uint32_t epoch = word(cursor.next_epoch).load(std::memory_order_acquire);
  return {epoch, word(cursor.next_row).load(std::memory_order_relaxed)};
}

// ---- steps of a reader ----

// R1. Descriptors [0, result) and their rows may be read.
inline std::uint64_t read_published(const WriterPage& writer) {
  return word(writer.published).load(std::memory_order_acquire);
}

// Read `published` after the state: a reader that sees a state also sees all descriptors that were
// published before it.
inline std::uint32_t read_state(const WriterPage& writer) {
  return word(writer.state).load(std::memory_order_acquire);
}

// R8. Entries [0, result) were written; as many of the newest as the log holds are still there.
// After R1 they include every change that affects the descriptors seen.
template <typename Log>
std::uint64_t read_change_count(const Log& log) {
  return word(log.count).load(std::memory_order_acquire);
}

// R2. After R3 and before the last read of `published` and `state`: the value to sleep on.
inline std::uint32_t read_writer_bell(const WriterPage& writer) {
  return word(writer.bell).load(std::memory_order_seq_cst);
}

// R3. From now on the writer wakes this reader. now_ns: futex_clock_ns().
inline void begin_wait(CursorPage& cursor, std::uint64_t now_ns) {
  word(cursor.waiting_since_ns).store(now_ns == 0 ? 1 : now_ns, std::memory_order_seq_cst);
}

// Ends the wait and adds its length to wait_ns.
inline void end_wait(CursorPage& cursor, std::uint64_t now_ns) {
  const std::uint64_t since = word(cursor.waiting_since_ns).load(std::memory_order_relaxed);
  const std::uint64_t sum = word(cursor.wait_ns).load(std::memory_order_relaxed);
  if (now_ns > since) word(cursor.wait_ns).store(sum + now_ns - since, std::memory_order_relaxed);
  word(cursor.waiting_since_ns).store(0, std::memory_order_relaxed);
}

// R4. Descriptors [0, count) are released: no view of their rows exists.
inline void write_released(CursorPage& cursor, std::uint64_t count) {
  word(cursor.released).store(count, std::memory_order_release);
}

// R5. Changes the bell, after R4.
inline void ring_cursor_bell(CursorPage& cursor, std::uint64_t count) {
  word(cursor.bell).store(static_cast<std::uint32_t>(count), std::memory_order_seq_cst);
}

// R6. After R5: whether the writer sleeps or is about to. If so, call futex_wake_all(&cursor.bell).
inline bool writer_waits(const WriterPage& writer) {
  return word(writer.waiting).load(std::memory_order_seq_cst) != 0;
}

// Adds what the trainer waited while it had no cursor page: before it attached again.
inline void add_wait(CursorPage& cursor, std::uint64_t waited_ns) {
  const std::uint64_t sum = word(cursor.wait_ns).load(std::memory_order_relaxed);
  word(cursor.wait_ns).store(sum + waited_ns, std::memory_order_relaxed);
}

// The number of batches that the trainer got.
inline void write_batches(CursorPage& cursor, std::uint64_t batches) {
  word(cursor.batches).store(batches, std::memory_order_relaxed);
}

// R7. The reader needs no batch that begins before (epoch, row). The position only increases. The
// two words are not read atomically: the row is written first and read last (W7), so the writer
// never sees a position later than the newest one. From (3, 640) to (4, 0) it may see (3, 0); from
// (3, 0) to (5, 128) it may see (3, 128).
inline void write_next(CursorPage& cursor, std::uint32_t epoch, std::uint64_t row) {
  word(cursor.next_row).store(row, std::memory_order_relaxed);
  word(cursor.next_epoch).store(epoch, std::memory_order_release);
}

// The newest run of batches that a reader skipped (a loop that ended by `break`, or skipped steps):
// those that begin at `left` or later and before `landed`. The daemon compares the ranks of a job.
// It reads twice, so a torn read does no harm.
struct LeftOut {
  NextPlace left;
  NextPlace landed;
};
inline void write_left_out(CursorPage& cursor, const LeftOut& out) {
  word(cursor.left_epoch).store(out.left.epoch, std::memory_order_relaxed);
  word(cursor.left_row).store(out.left.row, std::memory_order_relaxed);
  word(cursor.landed_epoch).store(out.landed.epoch, std::memory_order_relaxed);
  word(cursor.landed_row).store(out.landed.row, std::memory_order_relaxed);
}
inline LeftOut read_left_out(const CursorPage& cursor) {
  return {{word(cursor.left_epoch).load(std::memory_order_relaxed),
           word(cursor.left_row).load(std::memory_order_relaxed)},
          {word(cursor.landed_epoch).load(std::memory_order_relaxed),
           word(cursor.landed_row).load(std::memory_order_relaxed)}};
}

// For metrics only: a torn read of several words does no harm.
inline void write_device(CursorPage& cursor, const DeviceFigures& figures) {
  word(cursor.device_batches).store(figures.batches, std::memory_order_relaxed);
  word(cursor.device_uses).store(figures.uses, std::memory_order_relaxed);
  word(cursor.device_bytes).store(figures.bytes, std::memory_order_relaxed);
  word(cursor.device_copy_ns).store(figures.copy_ns, std::memory_order_relaxed);
  word(cursor.device_wait_ns).store(figures.wait_ns, std::memory_order_relaxed);
}
inline DeviceFigures read_device(const CursorPage& cursor) {
  return {word(cursor.device_batches).load(std::memory_order_relaxed),
          word(cursor.device_uses).load(std::memory_order_relaxed),
          word(cursor.device_bytes).load(std::memory_order_relaxed),
          word(cursor.device_copy_ns).load(std::memory_order_relaxed),
          word(cursor.device_wait_ns).load(std::memory_order_relaxed)};
}

// For metrics only, as write_device: the figures only grow, so the next look corrects a torn one.
inline void write_losses(CursorPage& cursor, const LossFigures& figures) {
  for (std::size_t use = 0; use < kLossUses; ++use) {
    word(cursor.losses.rows[use]).store(figures.rows[use], std::memory_order_relaxed);
    word(cursor.losses.sums[use]).store(figures.sums[use], std::memory_order_relaxed);
  }
  word(cursor.losses.reports).store(figures.reports, std::memory_order_release);
}
// Whether there is anything new costs one load.
inline std::uint64_t read_loss_reports(const CursorPage& cursor) {
  return word(cursor.losses.reports).load(std::memory_order_acquire);
}
inline LossFigures read_losses(const CursorPage& cursor) {
  LossFigures figures{};
  figures.reports = read_loss_reports(cursor);
  for (std::size_t use = 0; use < kLossUses; ++use) {
    figures.rows[use] = word(cursor.losses.rows[use]).load(std::memory_order_relaxed);
    figures.sums[use] = word(cursor.losses.sums[use]).load(std::memory_order_relaxed);
  }
  return figures;
}

// ---- sequences of steps ----

// A reader releases all descriptors below `count`: R4, R5, R6 and the wake. One thread of the
// reader at a time.
inline void release(const WriterPage& writer, CursorPage& cursor, std::uint64_t count) {
  write_released(cursor, count);
  ring_cursor_bell(cursor, count);
  if (writer_waits(writer)) futex_wake_all(&cursor.bell);
}

// One sleep of a reader that has read `published` == seen and a running writer: R2, the last reads,
// the sleep. Call it between begin_wait and end_wait. Returns when something may have changed, or
// at the deadline.
inline void sleep_for_publish(const WriterPage& writer, std::uint64_t seen,
                              std::uint64_t deadline_ns) {
  const std::uint32_t bell = read_writer_bell(writer);
  if (read_published(writer) != seen || read_state(writer) != kWriterRunning) return;
  futex_wait(&writer.bell, bell, deadline_ns);
}

}  // namespace echoline::shm
