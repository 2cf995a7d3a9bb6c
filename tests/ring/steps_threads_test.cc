// The cursor steps with real threads and real futexes in ordinary memory. ThreadSanitizer sees
// every access at the same address, so a memory order that is too weak is a race on the rows.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>
#include <vector>

#include "echoline/shm/cursor_steps.h"

namespace echoline::ring {
namespace {

constexpr std::uint64_t kLongNs = 20'000'000'000;
constexpr std::size_t kSlots = 2;
constexpr std::size_t kReaders = 2;

struct Line {
  shm::WriterPage writer{};
  std::array<shm::CursorPage, kReaders> cursors{};
  std::array<std::array<std::uint64_t, 32>, kSlots> rows{};
};

void wait_for_slot(Line& line, std::uint64_t count) {
  for (shm::CursorPage& cursor : line.cursors) {
    while (shm::read_released(cursor) < count) {
      shm::set_writer_waiting(line.writer, true);
      const std::uint32_t bell = shm::read_cursor_bell(cursor);
      if (shm::read_released(cursor) < count) {
        ASSERT_NE(shm::futex_wait(&cursor.bell, bell, shm::futex_clock_ns() + kLongNs),
                  shm::FutexResult::kTimedOut);
      }
      shm::set_writer_waiting(line.writer, false);
    }
  }
}

void write_all(Line& line, std::uint64_t batches) {
  for (std::uint64_t s = 0; s < batches; ++s) {
    if (s >= kSlots) wait_for_slot(line, s - kSlots + 1);
    line.rows[s % kSlots].fill(s);
    shm::write_published(line.writer, s + 1);
    shm::ring_writer_bell(line.writer);
    bool waits = false;
    for (const shm::CursorPage& cursor : line.cursors) waits = shm::reader_waits(cursor) || waits;
    if (waits) shm::futex_wake_all(&line.writer.bell);
  }
  shm::write_state(line.writer, shm::kWriterEnded);
  shm::ring_writer_bell(line.writer);
  shm::futex_wake_all(&line.writer.bell);
}

std::uint64_t read_all(Line& line, shm::CursorPage& cursor, unsigned seed) {
  std::mt19937 random(seed);
  std::uint64_t next = 0;
  while (true) {
    const bool ended = shm::read_state(line.writer) != shm::kWriterRunning;
    const std::uint64_t published = shm::read_published(line.writer);
    if (published == next) {
      if (ended) return next;
      const std::uint64_t start = shm::futex_clock_ns();
      shm::begin_wait(cursor, start);
      shm::sleep_for_publish(line.writer, published, start + kLongNs);
      shm::end_wait(cursor, shm::futex_clock_ns());
      // A sleep until the deadline has missed a wake-up.
      EXPECT_LT(shm::futex_clock_ns() - start, kLongNs);
      continue;
    }
    for (const std::uint64_t word : line.rows[next % kSlots])
      if (word != next) return ~std::uint64_t{0};
    if (random() % 4 == 0) std::this_thread::yield();
    shm::release(line.writer, cursor, ++next);
  }
}

TEST(StepsThreads, EveryBatchIsSeenOnceWithoutARaceOrALostWakeUp) {
  constexpr std::uint64_t kBatches = 20000;
  Line line;
  shm::write_state(line.writer, shm::kWriterRunning);
  std::vector<std::thread> readers;
  for (unsigned i = 0; i < kReaders; ++i)
    readers.emplace_back([&, i] { EXPECT_EQ(read_all(line, line.cursors[i], i), kBatches); });
  write_all(line, kBatches);
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace echoline::ring
