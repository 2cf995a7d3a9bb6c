#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "small_ring.h"
#include "trainer.h"

namespace echoline::ring {
namespace {

// The file descriptors of a trainer, used in this process.
class Seals : public testing::Test {
 protected:
  void SetUp() override {
    ring_ = make_ring(small_spec());
    data_ = ring_->data_fd();
    cursor_ = ring_->add_reader(0).value().cursor_fd;
  }
  std::unique_ptr<Ring> ring_;
  int data_ = -1;
  int cursor_ = -1;
};

TEST_F(Seals, TheDataCannotBeMappedForWriting) {
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, data_, 0), MAP_FAILED);
  EXPECT_EQ(errno, EPERM);
  // Opening the file again through /proc does not help.
  const std::string path = "/proc/self/fd/" + std::to_string(data_);
  const UniqueFd again(open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(again);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, again.get(), 0), MAP_FAILED);
}

TEST_F(Seals, AReadOnlyMappingOfTheDataCannotBeMadeWritable) {
  void* view = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, data_, 0);
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_NE(mprotect(view, 4096, PROT_READ | PROT_WRITE), 0);
  munmap(view, 4096);
}

TEST_F(Seals, TheDataCannotBeWrittenTruncatedExtendedOrPunched) {
  EXPECT_LT(pwrite(data_, "x", 1, 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(ftruncate(data_, 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(ftruncate(data_, static_cast<off_t>(ring_->bytes() * 2)), 0);
  EXPECT_NE(fallocate(data_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(Seals, NoSealCanBeAddedByATrainer) {
  EXPECT_NE(fcntl(cursor_, F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_NE(fcntl(data_, F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST_F(Seals, ACursorCannotBeTruncatedOrExtended) {
  EXPECT_NE(ftruncate(cursor_, 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(ftruncate(cursor_, 8192), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(Seals, AHolePunchedInACursorIsAFalseClaimNotAFault) {
  (void)ring_->publish({});
  ASSERT_TRUE(ring_->add_reader(1).ok());
  const auto late = ring_->add_reader(1).value();
  ASSERT_EQ(fallocate(late.cursor_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
  EXPECT_EQ(ring_->released(), 0U);
  EXPECT_TRUE(ring_->view(late.id).misbehaved);
  EXPECT_EQ(ring_->view(late.id).released, 1U);
}

TEST_F(Seals, AllPagesAreAllocatedFromTheStart) {
  for (const int fd : {data_, cursor_}) {
    struct stat status {};
    ASSERT_EQ(fstat(fd, &status), 0);
    EXPECT_EQ(status.st_blocks * 512, status.st_size);
  }
}

TEST(UnsealedRing, CanBeMappedForWritingButNotTruncated) {
  RingSpec spec = small_spec();
  spec.flags &= ~static_cast<std::uint32_t>(shm::kRingSealed);
  const auto ring = make_ring(spec);
  void* view = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring->data_fd(), 0);
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_NE(ftruncate(ring->data_fd(), 0), 0);
  // Overwrites header and writer page: the daemon does not read them.
  std::memset(view, 0xff, 4096);
  munmap(view, 4096);
  EXPECT_EQ(ring->publish({}), 0U);
  EXPECT_EQ(ring->published(), 1U);
}

TEST(RingDescriptors, ManyRingsAndReadersLeaveNoDescriptorBehind) {
  const auto open_count = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0;
    return count;
  };
  const int before = open_count();
  for (int round = 0; round < 50; ++round) {
    const auto ring = make_ring(small_spec());
    const auto reader = ring->add_reader(0).value();
    ASSERT_TRUE(ring->add_reader(0).ok());
    ring->remove_reader(reader.id);
  }
  EXPECT_EQ(open_count(), before);
}

TEST(RingAddresses, AreFreedCompletelyWithoutTouchingOtherMappings) {
  // Destroying a ring must not unmap adjacent memory.
  const auto lines = [] {
    FILE* maps = fopen("/proc/self/maps", "r");
    int rings = 0;
    char line[512];
    while (fgets(line, sizeof line, maps) != nullptr)
      rings += strstr(line, "echoline-ring") != nullptr;
    fclose(maps);
    return rings;
  };
  auto first = make_ring(small_spec());
  const int one = lines();
  auto second = make_ring(small_spec());
  EXPECT_EQ(lines(), 2 * one);
  first.reset();
  EXPECT_EQ(lines(), one);
  (void)second->publish({});
}

}  // namespace
}  // namespace echoline::ring
