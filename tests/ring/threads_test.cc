// Writer and readers as threads of one process, each with its own mappings. For ThreadSanitizer
// these are different memory; steps_threads_test.cc has the test that it can check.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "echoline/shm/cursor_steps.h"
#include "stream_of_rows.h"

namespace echoline::ring {
namespace {

constexpr std::uint64_t kLongNs = 20'000'000'000;

// Reads batches until the ring's end, and checks their order and content. Holds a random number of
// batches at a time. Returns the number of batches.
std::uint64_t read_all(Trainer& trainer, unsigned seed) {
  std::mt19937 random(seed);
  std::uint64_t count = 0;
  while (const auto descriptor = trainer.next(kLongNs)) {
    EXPECT_EQ(descriptor->sequence, count);
    EXPECT_TRUE(rows_match(trainer, *descriptor));
    ++count;
    if (random() % 4 == 0) std::this_thread::yield();
    if (random() % 3 != 0 || count % trainer.header().slot_count == 0) trainer.release();
  }
  return count;
}

class Threads : public testing::TestWithParam<std::pair<std::uint32_t, int>> {};

TEST_P(Threads, EachReaderSeesEachBatchOnceAndComplete) {
  const auto [slots, reader_count] = GetParam();
  const auto ring = make_ring(words_spec(slots, 5));
  constexpr std::uint64_t kBatches = 3000;
  std::vector<std::unique_ptr<Trainer>> pages;
  for (int i = 0; i < reader_count; ++i) {
    const auto reader = ring->add_reader(0).value();
    pages.push_back(
        std::make_unique<Trainer>(ring->data_fd(), reader.cursor_fd, reader.first_sequence));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < reader_count; ++i)
    threads.emplace_back([&, i] {
      Trainer& trainer = *pages[static_cast<std::size_t>(i)];
      EXPECT_EQ(read_all(trainer, static_cast<unsigned>(i)), kBatches);
    });
  EXPECT_TRUE(write_rows(*ring, 0, kBatches, kLongNs));
  ring->end(shm::kWriterEnded);
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(SlotsAndReaders, Threads,
                         testing::Values(std::pair(1U, 1), std::pair(2U, 2), std::pair(4U, 3)));

TEST(Threads, ReadersThatAttachAndDetachSeeNoGapAndBlockNoOther) {
  const auto ring = make_ring(words_spec(4, 3));
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      std::mt19937 random(i);
      while (!done) {
        const auto reader = ring->add_reader(random() % 2 == 0 ? 0 : ~0ULL).value();
        {
          Trainer trainer(ring->data_fd(), reader.cursor_fd, reader.first_sequence);
          std::uint64_t expected = reader.first_sequence;
          for (unsigned n = random() % 8; n > 0; --n) {
            const auto descriptor = trainer.next(50'000'000);
            if (!descriptor) break;
            EXPECT_EQ(descriptor->sequence, expected++);
            EXPECT_TRUE(rows_match(trainer, *descriptor));
            if (random() % 8 != 0) trainer.release();
          }
        }
        EXPECT_FALSE(ring->view(reader.id).misbehaved);
        ring->remove_reader(reader.id);
      }
    });
  EXPECT_TRUE(write_rows(*ring, 0, 1500, kLongNs));
  done = true;
  ring->end(shm::kWriterEnded);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace echoline::ring
