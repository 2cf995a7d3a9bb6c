// The steps of writer and readers on WriterPage and CursorPage, one atomic access each, with their
// memory orders. Both sides and the model checker in tests/ring use these and nothing else;
// docs/ring_format.md proves them.
//
// No fences (ThreadSanitizer doesn't know them): sleeping is decided as Dekker does, by
// sequentially consistent accesses to a flag ("I wait") and a bell. A sleeper raises its flag, then
// reads the bell; a ringer changes the bell, then reads the flag. So either the sleeper sees the
// new bell, or the ringer sees the flag and wakes.
#pragma once

#include <atomic>
#include <cstdint>

#include "echoline/shm/futex.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::shm {

// An atomic view of a word, also of one in a read-only mapping (then only load() may be called).
template <typename T>
std::atomic_ref<T> word(const T& value) {
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  return std::atomic_ref<T>(const_cast<T&>(value));
}

// ---- the writer's steps
// ------------------------------------------------------------------------------------------

// W1. Descriptors [0, count) stand: everything written before is seen by who reads `published`.
inline void write_published(WriterPage& writer, std::uint64_t count) {
  word(writer.published).store(count, std::memory_order_release);
}

// W2. Changes the bell, after a publish or a change of state. The value is a count of rings and
// means nothing.
inline void ring_writer_bell(WriterPage& writer) {
  word(writer.bell).fetch_add(1, std::memory_order_seq_cst);
}

// W3. After W2: does this reader sleep, or is it about to? If so for any reader:
// futex_wake_all(&writer.bell).
inline bool reader_waits(const CursorPage& cursor) {
  return word(cursor.waiting_since_ns).load(std::memory_order_seq_cst) != 0;
}

inline void write_state(WriterPage& writer, WriterState state) {
  word(writer.state).store(state, std::memory_order_release);
}

// W8. The next entry of the factor log, before any descriptor that it changed is published (W1).
// The entry that stood there is too old for any reader to want it.
inline void write_factor(FactorLog& log, const FactorLogEntry& entry) {
  const std::uint64_t count = word(log.count).load(std::memory_order_relaxed);
  log.entries[count % kFactorLogEntries] = entry;
  word(log.count).store(count + 1, std::memory_order_release);
}

// W4. Before and after a sleep on a cursor's bell.
inline void set_writer_waiting(WriterPage& writer, bool waiting) {
  word(writer.waiting).store(waiting ? 1U : 0U, std::memory_order_seq_cst);
}

// W5. After W4, and before the last look at `released`: the value to sleep on.
inline std::uint32_t read_cursor_bell(const CursorPage& cursor) {
  return word(cursor.bell).load(std::memory_order_seq_cst);
}

// W6. A claim, to be checked. Reads of rows by the reader are over for all below it.
inline std::uint64_t read_released(const CursorPage& cursor) {
  return word(cursor.released).load(std::memory_order_acquire);
}

// W7. The place of R7 or one before it, where the reader keeps to R7; else a claim that harms its
// own batches alone.
struct NextPlace {
  std::uint32_t epoch;
  std::uint64_t row;
};
inline NextPlace read_next(const CursorPage& cursor) {
  const std::uint32_t epoch = word(cursor.next_epoch).load(std::memory_order_acquire);
  return {epoch, word(cursor.next_row).load(std::memory_order_relaxed)};
}

// ---- a reader's steps
// --------------------------------------------------------------------------------------------

// R1. Descriptors [0, result) and their rows may be read.
inline std::uint64_t read_published(const WriterPage& writer) {
  return word(writer.published).load(std::memory_order_acquire);
}

// A descriptor published before the change of state is seen by who sees the state: read `published`
// after it.
inline std::uint32_t read_state(const WriterPage& writer) {
  return word(writer.state).load(std::memory_order_acquire);
}

// R8. Entries [0, result) stand, of which the last kFactorLogEntries are there to be read. After R1
// these are all that changed anything in the descriptors seen.
inline std::uint64_t read_factor_count(const FactorLog& log) {
  return word(log.count).load(std::memory_order_acquire);
}

// R2. Before the last look at `published` and `state`, after R3: the value to sleep on.
inline std::uint32_t read_writer_bell(const WriterPage& writer) {
  return word(writer.bell).load(std::memory_order_seq_cst);
}

// R3. From here on the writer wakes this reader. now_ns: futex_clock_ns().
inline void begin_wait(CursorPage& cursor, std::uint64_t now_ns) {
  word(cursor.waiting_since_ns).store(now_ns == 0 ? 1 : now_ns, std::memory_order_seq_cst);
}

// Adds the wait that ends to wait_ns.
inline void end_wait(CursorPage& cursor, std::uint64_t now_ns) {
  const std::uint64_t since = word(cursor.waiting_since_ns).load(std::memory_order_relaxed);
  const std::uint64_t sum = word(cursor.wait_ns).load(std::memory_order_relaxed);
  if (now_ns > since) word(cursor.wait_ns).store(sum + now_ns - since, std::memory_order_relaxed);
  word(cursor.waiting_since_ns).store(0, std::memory_order_relaxed);
}

// R4. Descriptors [0, count) are done with: no view of their rows is left.
inline void write_released(CursorPage& cursor, std::uint64_t count) {
  word(cursor.released).store(count, std::memory_order_release);
}

// R5. Changes the bell, after R4.
inline void ring_cursor_bell(CursorPage& cursor, std::uint64_t count) {
  word(cursor.bell).store(static_cast<std::uint32_t>(count), std::memory_order_seq_cst);
}

// R6. After R5: does the writer sleep, or is it about to? If so: futex_wake_all(&cursor.bell).
inline bool writer_waits(const WriterPage& writer) {
  return word(writer.waiting).load(std::memory_order_seq_cst) != 0;
}

// Adds what the trainer waited while it had no cursor page: before it attached again.
inline void add_wait(CursorPage& cursor, std::uint64_t waited_ns) {
  const std::uint64_t sum = word(cursor.wait_ns).load(std::memory_order_relaxed);
  word(cursor.wait_ns).store(sum + waited_ns, std::memory_order_relaxed);
}

// How many batches the trainer was handed.
inline void write_batches(CursorPage& cursor, std::uint64_t batches) {
  word(cursor.batches).store(batches, std::memory_order_relaxed);
}

// R7. No batch that begins before (epoch, row) is wanted any more. Only ever moves on. The row goes
// first and is read last (W7), so that whatever the writer reads together, no later place was ever
// claimed: of (3, 640) to (4, 0) it may see (3, 0), of (3, 0) to (5, 128) it may see (3, 128).
inline void write_next(CursorPage& cursor, std::uint32_t epoch, std::uint64_t row) {
  word(cursor.next_row).store(row, std::memory_order_relaxed);
  word(cursor.next_epoch).store(epoch, std::memory_order_release);
}

// What a reader left out last (a loop ended by `break`, skipped steps): the batches that begin at
// `left` or later, and before `landed`. For the daemon to compare the ranks of a job with: it looks
// twice, a torn reading is no matter.
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

// For metrics: words apart, a torn reading is no matter.
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

// ---- the steps put together
// --------------------------------------------------------------------------------------

// A reader gives back all below `count`: R4, R5, R6 and the wake. One thread of the reader at a
// time.
inline void release(const WriterPage& writer, CursorPage& cursor, std::uint64_t count) {
  write_released(cursor, count);
  ring_cursor_bell(cursor, count);
  if (writer_waits(writer)) futex_wake_all(&cursor.bell);
}

// One sleep of a reader that has found `published` == seen and the writer running: R2, the last
// look, the sleep. Between begin_wait and end_wait. Returns when there is reason to look again, or
// at the deadline.
inline void sleep_for_publish(const WriterPage& writer, std::uint64_t seen,
                              std::uint64_t deadline_ns) {
  const std::uint32_t bell = read_writer_bell(writer);
  if (read_published(writer) != seen || read_state(writer) != kWriterRunning) return;
  futex_wait(&writer.bell, bell, deadline_ns);
}

}  // namespace echoline::shm
