// What nobody uses any more: memory of passes without readers, and entries of trainers that left.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <thread>

#include "e2e/rig.h"
#include "echoline/shm/door.h"

namespace echoline::e2e {
namespace {

using std::chrono::milliseconds;

std::string steps(const std::string& side) {
  return "      - shuffle: {window: 20}\n"
         "      - decode: {image: {key: u8, as: uint8, shape: [" +
         side + ", " + side +
         ", 1]}, label: {key: cls, as: int64}}\n"
         "      - batch: {size: 8, last: drop}\n"
         "      - publish: {slots: 4}\n";
}

template <typename Condition>
bool comes_true(Condition condition) {
  for (int turn = 0; turn < 1000; ++turn) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(IdlePasses, GiveTheirMemoryToAnotherStream) {
  Rig rig({.side = 150, .memory = "4MiB"});  // room for one pass
  for (const char* name : {"first", "second"}) {
    const Status created = rig.create(name, steps("150"), "", ", read_ahead: 2MiB");
    ASSERT_TRUE(created.ok()) << created.message();
  }
  {
    Loader first = rig.attach("first");
    EXPECT_EQ(read_batches(first, 2).size(), 16U);
    EXPECT_THROW(rig.attach("second"), Error) << "this one is read";
  }
  Loader second = rig.attach("second");
  EXPECT_EQ(read_batches(second, 2).size(), 16U);
}

TEST(IdlePasses, EndWithinSecondsExceptOne) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", steps("8")).ok());
  const auto reserved = [&] { return rig.engine().stats().memory_reserved; };
  const std::uint64_t of_one = reserved();
  {
    const Loader here = rig.attach("train");
    Loader ahead = rig.attach("train", {.job = "ahead"});
    std::string state = ahead.state();
    state.replace(state.find("\"epoch\":0"), 9, "\"epoch\":9");
    const Loader elsewhere = rig.attach("train", {.job = "elsewhere", .state = state});
    EXPECT_EQ(reserved(), 2 * of_one);
  }
  EXPECT_TRUE(comes_true([&] { return reserved() == of_one; }));
}

TEST(TrainersFile, HasNoTrainerThatLeftJustBeforeTheDaemonStopped) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", steps("8")).ok());
  shm::AttachRequest request{};
  request.layout_major = shm::kLayoutMajor;
  request.layout_minor = shm::kLayoutMinor;
  std::strcpy(request.stream, "train");
  std::strcpy(request.job, "job");
  request.world_size = 1;
  request.join = shm::kJoinStart;
  Peer peer;
  peer.uid = ::geteuid();
  peer.pid = ::getpid();
  std::promise<bool> attached;
  constexpr std::uint64_t kConnection = 1'000'001;
  rig.engine().attach(kConnection, request, peer, [&](const Result<engine::Attachment>& answer) {
    attached.set_value(answer.ok());
  });
  ASSERT_TRUE(attached.get_future().get());
  const std::string file = rig.runtime_dir() + "/trainers.json";
  ASSERT_TRUE(comes_true([&] { return fs::exists(file); }));
  rig.engine().withdraw(kConnection);
  rig.engine().drain(milliseconds(0));
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace echoline::e2e
