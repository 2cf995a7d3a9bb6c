#include "engine/runtime/event_loop.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace echoline::engine {
namespace {

TEST(EventLoop, RunsTasksInTheOrderOfTheirPosting) {
  EventLoop loop("test");
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.run([] {});
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(EventLoop, RunsWhatWasPostedBeforeStopAndDropsTheRest) {
  EventLoop loop("test");
  int ran = 0;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(loop.post([&ran] { ++ran; }));
  loop.stop();
  EXPECT_EQ(ran, 10);
  EXPECT_FALSE(loop.post([&ran] { ++ran; }));
  loop.run([&ran] { ran += 100; });
  EXPECT_EQ(ran, 110) << "after stop() the caller runs it";
}

TEST(EventLoop, RunFromItsOwnThreadDoesNotWaitForItself) {
  EventLoop loop("test");
  bool ran = false;
  loop.run([&] { loop.run([&] { ran = true; }); });
  EXPECT_TRUE(ran);
}

TEST(EventLoop, TicksOnItsThread) {
  std::promise<std::thread::id> ticked;
  int ticks = 0;
  EventLoop loop("test", [&] {
    if (++ticks == 2) ticked.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(ticked.get_future().get(), std::this_thread::get_id());
}

TEST(EventLoop, ATaskThatPostsDoesNotDeadlock) {
  EventLoop loop("test");
  std::promise<void> done;
  loop.post([&] { loop.post([&] { done.set_value(); }); });
  done.get_future().wait();
}

}  // namespace
}  // namespace echoline::engine
