// Trainers as real processes: complete streams, and SIGKILL at each step of a batch.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "echoline/shm/cursor_steps.h"
#include "stream_of_rows.h"

namespace echoline::ring {
namespace {

constexpr std::uint64_t kLongNs = 20'000'000'000;

class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ == 0) _exit(body());
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    (void)wait();
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  // Returns the exit status, or 128 + the signal.
  int wait() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// Reads to the end. The exit status says what failed; 0: nothing.
int train(int data_fd, const Ring::Reader& reader, std::uint64_t batches) {
  Trainer trainer(data_fd, reader.cursor_fd, reader.first_sequence);
  std::uint64_t expected = reader.first_sequence;
  while (const auto descriptor = trainer.next(kLongNs)) {
    if (descriptor->sequence != expected++) return 1;
    if (!rows_match(trainer, *descriptor)) return 2;
    trainer.release();
  }
  return expected == batches ? 0 : 3;
}

TEST(Processes, ThreeTrainersEachSeeEveryBatchThroughTheirOwnMappings) {
  const auto ring = make_ring(words_spec(4, 7));
  constexpr std::uint64_t kBatches = 5000;
  std::vector<Child> children;
  for (int i = 0; i < 3; ++i) {
    const Ring::Reader reader = ring->add_reader(0).value();
    children.emplace_back([&] { return train(ring->data_fd(), reader, kBatches); });
  }
  EXPECT_TRUE(write_rows(*ring, 0, kBatches, kLongNs));
  ring->end(shm::kWriterEnded);
  for (Child& child : children) EXPECT_EQ(child.wait(), 0);
}

// The step at which a trainer kills itself.
enum class DiesAt {
  kStart,
  kBeforeSleep,
  kAsleep,
  kHolding,
  kBeforeRelease,
  kBeforeBell,
  kBeforeWake
};

[[noreturn]] void die() {
  ::kill(getpid(), SIGKILL);
  pause();
  _exit(99);
}

int train_until(DiesAt place, int data_fd, const Ring::Reader& reader) {
  if (place == DiesAt::kStart) die();
  Trainer trainer(data_fd, reader.cursor_fd, reader.first_sequence);
  for (int i = 0; i < 5; ++i) {
    if (!trainer.next(kLongNs)) return 1;
    trainer.release();
  }
  if (place == DiesAt::kBeforeSleep || place == DiesAt::kAsleep) {
    shm::begin_wait(trainer.cursor(), shm::futex_clock_ns());
    if (place == DiesAt::kBeforeSleep) die();
    const std::uint32_t bell = shm::read_writer_bell(trainer.writer());
    shm::futex_wait(&trainer.writer().bell, bell, shm::futex_clock_ns() + 10'000'000);
    die();
  }
  const auto descriptor = trainer.next(kLongNs);
  if (!descriptor) return 1;
  if (place == DiesAt::kHolding || place == DiesAt::kBeforeRelease) die();
  shm::write_released(trainer.cursor(), descriptor->sequence + 1);
  if (place == DiesAt::kBeforeBell) die();
  shm::ring_cursor_bell(trainer.cursor(), descriptor->sequence + 1);
  die();
}

class Killed : public testing::TestWithParam<DiesAt> {};

TEST_P(Killed, TheSlotsOfAKilledTrainerAreFreedAndTheOtherTrainerContinues) {
  const auto ring = make_ring(words_spec(3, 4));
  constexpr std::uint64_t kBatches = 400;
  const Ring::Reader dying = ring->add_reader(0).value();
  const Ring::Reader living = ring->add_reader(0).value();
  Child other([&] { return train(ring->data_fd(), living, kBatches); });
  Child victim([&] { return train_until(GetParam(), ring->data_fd(), dying); });
  // In the daemon, the attach service notices the death and the engine removes the reader. The
  // writer may be asleep then.
  std::thread door([&] {
    EXPECT_EQ(victim.wait(), 128 + SIGKILL);
    ring->remove_reader(dying.id);
  });
  EXPECT_TRUE(write_rows(*ring, 0, kBatches, kLongNs));
  door.join();
  ring->end(shm::kWriterEnded);
  EXPECT_EQ(other.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(AtEachStep, Killed,
                         testing::Values(DiesAt::kStart, DiesAt::kBeforeSleep, DiesAt::kAsleep,
                                         DiesAt::kHolding, DiesAt::kBeforeRelease,
                                         DiesAt::kBeforeBell, DiesAt::kBeforeWake));

TEST(Processes, FiftyKillsAtRandomMomentsLoseNothingForTheOthers) {
  const auto ring = make_ring(words_spec(3, 4));
  constexpr std::uint64_t kBatches = 20000;
  const Ring::Reader living = ring->add_reader(0).value();
  Child other([&] { return train(ring->data_fd(), living, kBatches); });
  std::thread storm([&] {
    std::mt19937 random(3);
    for (int i = 0; i < 50; ++i) {
      const Ring::Reader reader = ring->add_reader(~0ULL).value();
      Child victim([&] { return train(ring->data_fd(), reader, kBatches); });
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
      victim.kill();
      (void)victim.wait();
      ring->remove_reader(reader.id);
    }
  });
  EXPECT_TRUE(write_rows(*ring, 0, kBatches, kLongNs));
  storm.join();
  ring->end(shm::kWriterEnded);
  EXPECT_EQ(other.wait(), 0);
}

// After the death of the writer, a trainer still reads the published batches, and its sleep ends by
// its deadline.
TEST(Processes, TheDeathOfTheWriterKeepsPublishedBatchesAndEndsAllSleeps) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  // This process creates the ring; a child writes to it and is killed.
  const auto ring = make_ring(words_spec(4, 7));
  const Ring::Reader reader = ring->add_reader(0).value();
  Child writer([&] {
    (void)write_rows(*ring, 0, 4, kLongNs);
    (void)!write(sockets[1], "x", 1);
    (void)write_rows(*ring, 4, 1000, kLongNs);
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(sockets[0], &byte, 1), 1);
  writer.kill();
  EXPECT_EQ(writer.wait(), 128 + SIGKILL);
  Trainer trainer(ring->data_fd(), reader.cursor_fd, 0);
  for (int i = 0; i < 4; ++i) {
    const auto descriptor = trainer.next(kLongNs);
    ASSERT_TRUE(descriptor.has_value());
    EXPECT_TRUE(rows_match(trainer, *descriptor));
  }
  trainer.release();
  const std::uint64_t start = shm::futex_clock_ns();
  EXPECT_FALSE(trainer.next(200'000'000).has_value());
  EXPECT_LT(shm::futex_clock_ns() - start, 1'000'000'000U);
  close(sockets[0]);
  close(sockets[1]);
}

}  // namespace
}  // namespace echoline::ring
