#include "ring/ring.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "echoline/shm/cursor_steps.h"
#include "small_ring.h"
#include "trainer.h"

namespace echoline::ring {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::uint8_t pixel(std::uint64_t row, std::size_t i) {
  return static_cast<std::uint8_t>(row * 31 + i);
}

// Publishes batch s with content that only depends on its row numbers.
void publish_batch(Ring& ring, std::uint64_t s) {
  const std::uint64_t rows = ring.spec().batch_rows;
  for (std::uint64_t r = s * rows; r < (s + 1) * rows; ++r) {
    auto* image = ring.row(0, r);
    for (std::size_t i = 0; i < 105; ++i) image[i] = static_cast<std::byte>(pixel(r, i));
    const auto label = static_cast<std::int64_t>(r);
    std::memcpy(ring.row(1, r), &label, sizeof label);
    *ring.sample_ids(r) = 1000 + r;
    *ring.uses(r) = static_cast<std::uint32_t>(r % 2);
    *ring.row_flags(r) = 0;
  }
  shm::Descriptor descriptor{};
  descriptor.step = s;
  descriptor.row = descriptor.arena_row = s * rows;
  descriptor.valid_rows = static_cast<std::uint32_t>(rows);
  EXPECT_EQ(ring.publish(descriptor), s);
}

TEST(Ring, ABatchReadInAnotherMappingEqualsTheWrittenOne) {
  const auto ring = make_ring(small_spec());
  const auto reader = ring->add_reader(0);
  ASSERT_TRUE(reader.ok());
  publish_batch(*ring, 0);
  Trainer trainer(ring->data_fd(), reader.value().cursor_fd, reader.value().first_sequence);
  const auto descriptor = trainer.next();
  ASSERT_TRUE(descriptor.has_value());
  EXPECT_EQ(descriptor->sequence, 0U);
  EXPECT_GT(descriptor->published_ns, 0U);
  for (std::uint64_t r = 0; r < 3; ++r)
    for (std::size_t i = 0; i < 105; ++i)
      ASSERT_EQ(static_cast<std::uint8_t>(trainer.row(0, r)[i]), pixel(r, i));
  std::uint64_t id = 0;
  std::memcpy(&id, trainer.row(2, 2), sizeof id);
  EXPECT_EQ(id, 1002U);
}

TEST(Ring, RowsAcrossTheEndOfAnArenaAreContiguousOnBothSides) {
  // 72 rows of 105 bytes on two pages: the arena ends inside a row, in a different one in each
  // round.
  const auto ring = make_ring(small_spec(8, 9));
  const auto reader = ring->add_reader(0);
  ASSERT_TRUE(reader.ok());
  Trainer trainer(ring->data_fd(), reader.value().cursor_fd, 0);
  const std::uint64_t arena_bytes = trainer.entry(0).arena.bytes;
  int crossed = 0;
  for (std::uint64_t s = 0; s < 200; ++s) {
    publish_batch(*ring, s);
    const auto descriptor = trainer.next();
    ASSERT_TRUE(descriptor.has_value());
    if (descriptor->arena_row * 105 % arena_bytes + 9 * 105 > arena_bytes) ++crossed;
    const std::byte* image = trainer.row(0, descriptor->arena_row);
    for (std::uint64_t r = 0; r < 9; ++r)
      for (std::size_t i = 0; i < 105; i += 13)
        ASSERT_EQ(static_cast<std::uint8_t>(image[r * 105 + i]), pixel(s * 9 + r, i))
            << s << " " << r;
    trainer.release();
  }
  EXPECT_GT(crossed, 10);
}

TEST(Ring, ASlotIsFreeWhenTheSlowestReaderHasReleasedIt) {
  const auto ring = make_ring(small_spec());
  const auto a = ring->add_reader(0);
  const auto b = ring->add_reader(0);
  ASSERT_TRUE(a.ok() && b.ok());
  for (std::uint64_t s = 0; s < 4; ++s) publish_batch(*ring, s);
  Trainer fast(ring->data_fd(), a.value().cursor_fd, 0);
  Trainer slow(ring->data_fd(), b.value().cursor_fd, 0);
  for (int i = 0; i < 4; ++i) (void)fast.next();
  fast.release();
  (void)slow.next();
  EXPECT_EQ(ring->released(), 0U);
  slow.release();
  EXPECT_EQ(ring->released(), 1U);
  ring->remove_reader(b.value().id);
  EXPECT_EQ(ring->released(), 4U);
}

TEST(Ring, WithoutReadersNothingIsReleased) {
  const auto ring = make_ring(small_spec());
  for (std::uint64_t s = 0; s < 4; ++s) publish_batch(*ring, s);
  EXPECT_EQ(ring->released(), 0U);
  EXPECT_FALSE(ring->wait_released(1, monotonic_ns() + 20'000'000));
}

TEST(Ring, ANewReaderStartsWithinTheUnreleasedBatches) {
  const auto ring = make_ring(small_spec());
  const auto first = ring->add_reader(0);
  ASSERT_TRUE(first.ok());
  for (std::uint64_t s = 0; s < 3; ++s) publish_batch(*ring, s);
  Trainer trainer(ring->data_fd(), first.value().cursor_fd, 0);
  (void)trainer.next();
  trainer.release();
  EXPECT_EQ(ring->add_reader(0).value().first_sequence, 1U);
  EXPECT_EQ(ring->add_reader(2).value().first_sequence, 2U);
  EXPECT_EQ(ring->add_reader(99).value().first_sequence, 3U);
}

// Whether `other`, in a second thread, ends a wait for the first slot at once, and not only the
// check every 100 ms does. One success in a few rounds is enough, because threads can be late on a
// busy machine.
template <typename Other>
bool woken(Other other) {
  for (int round = 0; round < 8; ++round) {
    const auto ring = make_ring(small_spec());
    publish_batch(*ring, 0);
    const auto reader = ring->add_reader(0).value();
    std::thread second([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      other(*ring, reader);
    });
    const std::uint64_t start = monotonic_ns();
    EXPECT_TRUE(ring->wait_released(1, start + 10 * kSecondNs));
    const std::uint64_t waited = monotonic_ns() - start;
    second.join();
    if (waited < 80'000'000) return true;
  }
  return false;
}

void take_one(Ring& ring, const Ring::Reader& reader) {
  Trainer trainer(ring.data_fd(), reader.cursor_fd, reader.first_sequence);
  (void)trainer.next();
  trainer.release();
}

TEST(Ring, TheWriterWakesWhenTheLastReaderHoldingItBackReleases) { EXPECT_TRUE(woken(take_one)); }

TEST(Ring, TheRemovalOfTheSlowestReaderWakesTheWriter) {
  EXPECT_TRUE(woken([](Ring& ring, const Ring::Reader& slowest) {
    ASSERT_TRUE(ring.add_reader(1).ok());
    ring.remove_reader(slowest.id);
  }));
}

TEST(Ring, AFirstReaderWakesAWriterThatSleepsWithoutReaders) {
  EXPECT_TRUE(woken([](Ring& ring, const Ring::Reader& first) {
    ring.remove_reader(first.id);
    take_one(ring, ring.add_reader(0).value());
  }));
}

TEST(Ring, AnInterruptEndsTheWaitAndOneBeforeItIsNotLost) {
  const auto ring = make_ring(small_spec());
  for (int round = 0; round < 200; ++round) {
    std::thread second([&] { ring->interrupt(); });
    const std::uint64_t start = monotonic_ns();
    EXPECT_FALSE(ring->wait_released(1, start + 10 * kSecondNs));
    EXPECT_LT(monotonic_ns() - start, 5 * kSecondNs);
    second.join();
  }
}

// Waits until a thread of this process sleeps, up to a second.
void await_sleep(const std::atomic<pid_t>& thread) {
  const std::uint64_t deadline = monotonic_ns() + kSecondNs;
  std::string stat;
  // "number (name) state ..."
  while (stat.find(") S") == std::string::npos && monotonic_ns() < deadline) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::getline(file, stat);
  }
}

// A worker calls it, and then makes the next row.
TEST(Ring, AnInterruptThatWakesTheWriterDoesNotSleep) {
  const auto ring = make_ring(small_spec());
  const auto sleeps = [] {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  std::atomic<bool> over{false};
  std::atomic<pid_t> writer_thread{0};
  std::thread writer([&] {
    writer_thread = ::gettid();
    while (!over) (void)ring->wait_released(1, monotonic_ns() + kSecondNs);
  });
  long slept = 0;
  for (int round = 0; round < 100; ++round) {
    await_sleep(writer_thread);
    const long before = sleeps();
    ring->interrupt();
    slept += sleeps() - before;
  }
  over = true;
  ring->interrupt();
  writer.join();
  EXPECT_LE(slept, 20);
}

TEST(Ring, AWaitEndsAtItsDeadline) {
  const auto ring = make_ring(small_spec());
  const std::uint64_t start = monotonic_ns();
  EXPECT_FALSE(ring->wait_released(1, start + 50'000'000));
  EXPECT_GE(monotonic_ns() - start, 50'000'000U);
  EXPECT_LT(monotonic_ns() - start, 5 * kSecondNs);
}

TEST(Ring, TheEndWakesAWaitingReaderAfterTheLastBatch) {
  const auto ring = make_ring(small_spec());
  const auto reader = ring->add_reader(0);
  ASSERT_TRUE(reader.ok());
  std::vector<std::uint64_t> seen;
  std::thread trainer_thread([&] {
    Trainer trainer(ring->data_fd(), reader.value().cursor_fd, 0);
    while (const auto descriptor = trainer.next()) seen.push_back(descriptor->sequence);
    EXPECT_EQ(shm::word(trainer.writer().state).load(), shm::kWriterEnded);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  publish_batch(*ring, 0);
  ring->end(shm::kWriterEnded);
  trainer_thread.join();
  EXPECT_EQ(seen, std::vector<std::uint64_t>{0});
}

TEST(Ring, RaggedRowsAreAdjacentAndHaveOffsets) {
  RingSpec spec = small_spec();
  spec.fields.push_back(ragged_field("tokens", shm::kUint16, {10}));
  const auto ring = make_ring(spec);
  const std::vector<std::uint64_t> lengths{6, 0, 20};
  for (std::uint32_t row = 0; row < 3; ++row)
    std::memset(ring->ragged_row(2, 1, row), 'a' + static_cast<int>(row), lengths[row]);
  ring->finish_ragged(2, 1, lengths);
  ring->write_offsets(2, 1, lengths);  // again the same: nothing moves
  const auto reader = ring->add_reader(0);
  Trainer trainer(ring->data_fd(), reader.value().cursor_fd, 0);
  const shm::FieldEntry& entry = trainer.entry(2);
  const auto* offsets = reinterpret_cast<const std::uint64_t*>(trainer.section(entry.offsets)) + 4;
  EXPECT_EQ(std::vector<std::uint64_t>(offsets, offsets + 4),
            (std::vector<std::uint64_t>{0, 6, 6, 26}));
  const auto* values = reinterpret_cast<const char*>(trainer.section(entry.arena)) + 3 * 20;
  EXPECT_EQ(std::string(values, 26), std::string(6, 'a') + std::string(20, 'c'));
}

TEST(Ring, AShortRaggedBatchEndsWithEmptyRows) {
  RingSpec spec = small_spec();
  spec.fields.push_back(ragged_field("tokens", shm::kUint8, {10}));
  const auto ring = make_ring(spec);
  ring->finish_ragged(2, 0, std::vector<std::uint64_t>{4});
  const auto reader = ring->add_reader(0);
  Trainer trainer(ring->data_fd(), reader.value().cursor_fd, 0);
  const auto* offsets =
      reinterpret_cast<const std::uint64_t*>(trainer.section(trainer.entry(2).offsets));
  EXPECT_EQ(std::vector<std::uint64_t>(offsets, offsets + 4),
            (std::vector<std::uint64_t>{0, 4, 4, 4}));
}

TEST(Ring, UnderBatchEchoADescriptorNamesASlotAgain) {
  RingSpec spec = small_spec(2);
  spec.flags |= shm::kRingBatchEcho;
  spec.descriptors_live = 4;
  const auto ring = make_ring(spec);
  const auto reader = ring->add_reader(0);
  std::memset(ring->row(0, 3), 'x', 105);
  for (std::uint32_t use = 0; use < 4; ++use) {
    shm::Descriptor descriptor{};
    descriptor.slot = 1;
    descriptor.arena_row = 3;
    (void)ring->publish(descriptor);
  }
  Trainer trainer(ring->data_fd(), reader.value().cursor_fd, 0);
  for (int use = 0; use < 4; ++use) {
    const auto descriptor = trainer.next();
    ASSERT_TRUE(descriptor.has_value());
    EXPECT_EQ(static_cast<char>(*trainer.row(0, descriptor->arena_row)), 'x');
  }
}

TEST(RingDeath, PublishingOverAnUnreleasedDescriptorAborts) {
  const auto ring = make_ring(small_spec());
  for (std::uint64_t s = 0; s < 4; ++s) publish_batch(*ring, s);
  EXPECT_DEATH((void)ring->publish({}), "descriptors_live");
}

TEST(Ring, TheViewShowsTheCursorPageOfAReader) {
  const auto ring = make_ring(small_spec());
  const auto reader = ring->add_reader(0);
  Trainer trainer(ring->data_fd(), reader.value().cursor_fd, 0);
  shm::write_batches(trainer.cursor(), 12);
  shm::write_next(trainer.cursor(), 3, 456);
  EXPECT_FALSE(trainer.next(10'000'000).has_value());
  const ReaderView view = ring->view(reader.value().id);
  EXPECT_EQ(view.batches, 12U);
  EXPECT_EQ(view.next, (plan::Position{3, 456}));
  EXPECT_GE(view.wait_ns, 9'000'000U);
  EXPECT_EQ(view.waiting_since_ns, 0U);
  EXPECT_FALSE(view.misbehaved);
}

}  // namespace
}  // namespace echoline::ring
