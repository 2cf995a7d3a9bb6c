// A trainer that writes anything to its cursor page harms only itself.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "base/clock.h"
#include "echoline/shm/cursor_steps.h"
#include "stream_of_rows.h"

namespace echoline::ring {
namespace {

constexpr std::uint64_t kLongNs = 20'000'000'000;

TEST(Hostile, AClaimBeyondThePublishedBatchesIsIgnored) {
  const auto ring = make_ring(words_spec(4, 2));
  const Ring::Reader reader = ring->add_reader(0).value();
  Trainer trainer(ring->data_fd(), reader.cursor_fd, 0);
  ASSERT_TRUE(write_rows(*ring, 0, 2, kLongNs));
  shm::release(trainer.writer(), trainer.cursor(), 3);
  EXPECT_EQ(ring->released(), 0U);
  EXPECT_TRUE(ring->view(reader.id).misbehaved);
  // Not even when the claimed batches are published later.
  ASSERT_TRUE(write_rows(*ring, 2, 4, kLongNs));
  EXPECT_EQ(ring->released(), 0U);
  EXPECT_TRUE(ring->view(reader.id).misbehaved);
}

TEST(Hostile, ADecreasingClaimIsIgnored) {
  const auto ring = make_ring(words_spec(4, 2));
  const Ring::Reader reader = ring->add_reader(0).value();
  Trainer trainer(ring->data_fd(), reader.cursor_fd, 0);
  ASSERT_TRUE(write_rows(*ring, 0, 3, kLongNs));
  shm::release(trainer.writer(), trainer.cursor(), 2);
  EXPECT_EQ(ring->released(), 2U);
  shm::release(trainer.writer(), trainer.cursor(), 1);
  EXPECT_EQ(ring->released(), 2U);
  EXPECT_TRUE(ring->view(reader.id).misbehaved);
}

TEST(Hostile, AMisbehavedReaderIsRemovedLikeAnyOther) {
  const auto ring = make_ring(words_spec(2, 2));
  const Ring::Reader liar = ring->add_reader(0).value();
  const Ring::Reader honest = ring->add_reader(0).value();
  Trainer lying(ring->data_fd(), liar.cursor_fd, 0);
  ASSERT_TRUE(write_rows(*ring, 0, 2, kLongNs));
  shm::release(lying.writer(), lying.cursor(), ~0ULL);
  Trainer trainer(ring->data_fd(), honest.cursor_fd, 0);
  ASSERT_TRUE(trainer.next().has_value());
  trainer.release();
  EXPECT_FALSE(ring->wait_released(1, monotonic_ns() + 20'000'000));
  ring->remove_reader(liar.id);
  EXPECT_TRUE(ring->wait_released(1, monotonic_ns() + kLongNs));
}

TEST(Hostile, RandomBytesOnACursorPageAffectNoOtherReader) {
  const auto ring = make_ring(words_spec(4, 3));
  constexpr std::uint64_t kBatches = 2000;
  const Ring::Reader honest = ring->add_reader(0).value();
  std::atomic<bool> done = false;
  // Writes random values, is removed as soon as it is marked as misbehaved, as in the engine, and
  // attaches again.
  std::thread hostile([&] {
    std::mt19937_64 random(11);
    while (!done) {
      const Ring::Reader reader = ring->add_reader(~0ULL).value();
      void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reader.cursor_fd, 0);
      EXPECT_NE(page, MAP_FAILED);
      auto* words = static_cast<std::uint64_t*>(page);
      for (int i = 0; i < 200 && !ring->view(reader.id).misbehaved; ++i)
        shm::word(words[random() % 48])
            .store(random() >> (random() % 64), std::memory_order_relaxed);
      ring->remove_reader(reader.id);
      munmap(page, 4096);
    }
  });
  std::thread trainer_thread([&] {
    Trainer trainer(ring->data_fd(), honest.cursor_fd, 0);
    std::uint64_t expected = 0;
    while (const auto descriptor = trainer.next(kLongNs)) {
      EXPECT_EQ(descriptor->sequence, expected++);
      EXPECT_TRUE(rows_match(trainer, *descriptor));
      trainer.release();
    }
    EXPECT_EQ(expected, kBatches);
  });
  EXPECT_TRUE(write_rows(*ring, 0, kBatches, kLongNs));
  done = true;
  hostile.join();
  ring->end(shm::kWriterEnded);
  trainer_thread.join();
  EXPECT_FALSE(ring->view(honest.id).misbehaved);
}

std::uint64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

TEST(Hostile, WakesWithoutAReleaseDoNotKeepTheWriterBusy) {
  const auto ring = make_ring(words_spec(2, 2));
  const Ring::Reader reader = ring->add_reader(0).value();
  Trainer trainer(ring->data_fd(), reader.cursor_fd, 0);
  ASSERT_TRUE(write_rows(*ring, 0, 2, kLongNs));
  std::atomic<bool> done = false;
  std::thread ringer([&] {
    for (std::uint64_t i = 0; !done; ++i) {
      shm::ring_cursor_bell(trainer.cursor(), i);
      shm::futex_wake_all(&trainer.cursor().bell);
    }
  });
  const std::uint64_t cpu = thread_cpu_ns();
  EXPECT_FALSE(ring->wait_released(1, monotonic_ns() + 400'000'000));
  EXPECT_LT(thread_cpu_ns() - cpu, 100'000'000U);
  done = true;
  ringer.join();
}

TEST(Hostile, AReleaseWithoutAWakeIsFoundWithADelay) {
  const auto ring = make_ring(words_spec(2, 2));
  const Ring::Reader reader = ring->add_reader(0).value();
  Trainer trainer(ring->data_fd(), reader.cursor_fd, 0);
  ASSERT_TRUE(write_rows(*ring, 0, 2, kLongNs));
  std::thread silent([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    shm::write_released(trainer.cursor(), 1);
  });
  EXPECT_TRUE(ring->wait_released(1, monotonic_ns() + kLongNs));
  silent.join();
}

}  // namespace
}  // namespace echoline::ring
