// Items keep the cheapest form that their remaining uses need, within the limit of the account.
#include "echo/item.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "echo/window.h"

namespace echoline::echo {
namespace {

class CappedAccount : public Account {
 public:
  explicit CappedAccount(std::uint64_t cap) : cap_(cap) {}
  void add_ahead(std::int64_t bytes) override { ahead += bytes; }
  void note_arrival(std::uint64_t) override { ++arrivals; }
  bool try_keep(std::uint64_t bytes) override {
    if (kept + bytes > cap_) return false;
    kept += bytes;
    return true;
  }
  void release_kept(std::uint64_t bytes) override { kept -= bytes; }
  void add_encoded(std::int64_t bytes) override { encoded += bytes; }

  std::uint64_t kept = 0;
  std::int64_t encoded = 0;
  std::int64_t ahead = 0;
  int arrivals = 0;

 private:
  const std::uint64_t cap_;
};

class CountingWaiter : public Waiter {
 public:
  void item_ready() override { ++calls; }
  int calls = 0;
};

decode::Sample sample_of(std::size_t bytes) {
  decode::Sample sample;
  sample.tensors.resize(1);
  sample.tensors[0].bytes.resize(bytes);
  return sample;
}

TEST(Item, NotifiesWaitersWhenItsBytesArrive) {
  auto account = std::make_shared<CappedAccount>(1000);
  auto item = std::make_shared<Item>(account, 0, 5);
  auto waiter = std::make_shared<CountingWaiter>();
  EXPECT_TRUE(item->wait(waiter));
  EXPECT_EQ(waiter->calls, 0);
  item->arrive(std::make_shared<Buffer>(10));
  EXPECT_EQ(waiter->calls, 1);
  EXPECT_FALSE(item->wait(waiter));
  EXPECT_EQ(account->encoded, 10);
}

TEST(Item, DoesNotOwnItsWaiters) {
  auto account = std::make_shared<CappedAccount>(1000);
  auto item = std::make_shared<Item>(account, 0, 5);
  auto waiter = std::make_shared<CountingWaiter>();
  EXPECT_TRUE(item->wait(waiter));
  EXPECT_EQ(waiter.use_count(), 1);
  waiter.reset();
  item->arrive(std::make_shared<Buffer>(10));  // calls nobody
  EXPECT_TRUE(item->ready());
}

TEST(Item, KeepsTheSampleInPlaceOfItsBytesWhileThereIsRoom) {
  auto account = std::make_shared<CappedAccount>(100);
  auto first = std::make_shared<Item>(account, 0, 1);
  auto second = std::make_shared<Item>(account, 0, 2);
  first->arrive(std::make_shared<Buffer>(10));
  second->arrive(std::make_shared<Buffer>(10));
  decode::Sample decoded = sample_of(80);
  EXPECT_TRUE(first->keep_sample(decoded));
  EXPECT_TRUE(first->has_sample());
  EXPECT_FALSE(first->has_encoded());
  decode::Sample too_much = sample_of(80);
  EXPECT_FALSE(second->keep_sample(too_much));
  EXPECT_TRUE(second->has_encoded());
  EXPECT_EQ(too_much.bytes(), 80U);
  EXPECT_EQ(account->kept, 80U);
  EXPECT_EQ(account->encoded, 10);
  first.reset();
  second.reset();
  EXPECT_EQ(account->kept, 0U);
  EXPECT_EQ(account->encoded, 0);
}

TEST(Item, AKeptSampleUsesOnlyItsBytesEvenIfTheBufferWasLarge) {
  auto account = std::make_shared<CappedAccount>(1000);
  auto item = std::make_shared<Item>(account, 0, 1);
  item->arrive(std::make_shared<Buffer>(10));
  decode::Sample reused = sample_of(900);
  reused.tensors[0].bytes.resize(70);
  reused.tensors[0].bytes.data()[69] = std::byte{7};
  ASSERT_TRUE(item->keep_sample(reused));
  EXPECT_EQ(item->sample().tensors[0].bytes.capacity(), 70U);
  EXPECT_EQ(item->sample().tensors[0].bytes.data()[69], std::byte{7});
  EXPECT_EQ(reused.tensors[0].bytes.capacity(), 900U) << "the next sample finds it again";
}

TEST(Item, ABufferIsEmptyAfterAMove) {
  Buffer from(100);
  const Buffer to = std::move(from);
  EXPECT_EQ(from.capacity(), 0U);
  from.resize(50);
  EXPECT_NE(from.data(), nullptr);
}

TEST(Item, AVeryLargeBufferIsFreedByTheNextSmallSize) {
  Buffer buffer(std::size_t{100} << 20);
  buffer.resize(1000);
  EXPECT_EQ(buffer.capacity(), 1000U);
}

TEST(Item, ReplacedWaitsForTheBytesOfItsSubstitute) {
  auto account = std::make_shared<CappedAccount>(100);
  auto item = std::make_shared<Item>(account, 0, 1);
  item->arrive(std::make_shared<Buffer>(10));
  {
    const MutexLock lock(item->mutex);
    item->replace_by(7);
    EXPECT_FALSE(item->ready());
  }
  EXPECT_EQ(item->record, 7U);
  EXPECT_EQ(item->planned_record, 1U);
  EXPECT_EQ(item->attempt, 1U);
  EXPECT_EQ(account->encoded, 0);
}

TEST(Item, CountsAsReadAheadUntilItsFirstUse) {
  auto account = std::make_shared<CappedAccount>(100);
  auto item = std::make_shared<Item>(account, 0, 1);
  item->uses_left = 2;
  item->count_ahead(10, 0);
  EXPECT_EQ(account->ahead, 10);
  item->arrive(std::make_shared<Buffer>(10));
  EXPECT_EQ(account->ahead, 10);
  EXPECT_EQ(account->arrivals, 1);
  item->used();
  EXPECT_EQ(account->ahead, 0);
  EXPECT_TRUE(item->has_encoded()) << "for its second use";
  item->used();
  EXPECT_FALSE(item->has_encoded());
  EXPECT_EQ(account->ahead, 0);
  EXPECT_EQ(account->encoded, 0);
}

TEST(Item, IsMadeByOneWorkerAtATimeThoughItsLockIsFree) {
  auto account = std::make_shared<CappedAccount>(100);
  auto item = std::make_shared<Item>(account, 0, 1, 20);
  item->arrive(std::make_shared<Buffer>(10));
  int inside = 0;  // workers that make a row; only claims keep them apart
  const auto work = [&] {
    for (int i = 0; i < 10; ++i) {
      MutexLock lock(item->mutex);
      item->await_unclaimed(lock);
      auto claim = std::make_unique<Claim>(*item);
      lock.unlock();
      EXPECT_EQ(++inside, 1);
      std::this_thread::yield();
      --inside;
      lock.lock();
      item->used();
      lock.unlock();
      claim.reset();
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_FALSE(item->is_claimed());
  EXPECT_FALSE(item->has_encoded()) << "after the last use";
}

TEST(Item, KeepsTheBytesOfAClaimThoughItsRecordIsReplaced) {
  auto account = std::make_shared<CappedAccount>(100);
  auto item = std::make_shared<Item>(account, 0, 1);
  auto bytes = std::make_shared<Buffer>(10);
  const std::weak_ptr<Buffer> kept = bytes;
  item->arrive(std::move(bytes));
  auto claim = std::make_unique<Claim>(*item);
  item->replace_by(2);
  EXPECT_FALSE(kept.expired());
  claim.reset();
  EXPECT_TRUE(kept.expired());
}

TEST(Item, CountsNoLongerWhenItIsDestroyed) {
  auto account = std::make_shared<CappedAccount>(100);
  auto item = std::make_shared<Item>(account, 0, 1);
  item->count_ahead(10, 0);
  item.reset();
  EXPECT_EQ(account->ahead, 0);
}

// A sample whose first tensor is the first `bytes` of the frame, and whose second one is not of it.
decode::Sample borrowed_from(const Buffer& frame, std::size_t bytes) {
  decode::Sample sample = sample_of(0);
  sample.tensors[0].borrowed = frame.span().first(bytes);
  sample.tensors.emplace_back().bytes.resize(3);
  return sample;
}

TEST(Item, KeepsTheFrameThatItsSampleBorrows) {
  auto account = std::make_shared<CappedAccount>(1000);
  Item item(account, 0, 5, 2);
  const auto frame = std::make_shared<Buffer>(100);
  item.arrive(frame, Form::kPrepared);
  const MutexLock lock(item.mutex);
  decode::Sample sample = borrowed_from(*frame, 90);
  EXPECT_TRUE(item.keep_sample(sample));
  EXPECT_EQ(account->kept, 103U) << "the frame, and the tensor that is not of it";
  EXPECT_EQ(account->encoded, 0);
  EXPECT_EQ(item.sample().tensors[0].content().data(), frame->data());
  EXPECT_EQ(frame.use_count(), 2);
}

TEST(Item, CopiesTheSmallPartOfAFrameThatItsSampleBorrows) {
  auto account = std::make_shared<CappedAccount>(1000);
  Item item(account, 0, 5, 2);
  const auto frame = std::make_shared<Buffer>(100);
  item.arrive(frame, Form::kPrepared);
  const MutexLock lock(item.mutex);
  decode::Sample sample = borrowed_from(*frame, 10);
  EXPECT_TRUE(item.keep_sample(sample));
  EXPECT_EQ(account->kept, 13U);
  EXPECT_NE(item.sample().tensors[0].content().data(), frame->data());
  EXPECT_EQ(frame.use_count(), 1);
}

TEST(Item, CountsAFrameByItsSizeFromItsArrivalOn) {
  auto account = std::make_shared<CappedAccount>(1000);
  Item item(account, 0, 5);
  item.count_ahead(40, 1);
  item.arrive(std::make_shared<Buffer>(100), Form::kPrepared);
  EXPECT_EQ(account->ahead, 100);
  const MutexLock lock(item.mutex);
  item.used();
  EXPECT_EQ(account->ahead, 0);
}

TEST(Window, HoldsARecordFromItsFirstToItsLastUse) {
  Window window(std::make_shared<CappedAccount>(100));
  const Window::Touched first = window.touch(0, {.record = 3, .use = 0, .uses = 3});
  EXPECT_TRUE(first.is_new);
  EXPECT_EQ(window.size(), 1U);
  const Window::Touched second = window.touch(0, {.record = 3, .use = 1, .uses = 3});
  EXPECT_FALSE(second.is_new);
  EXPECT_EQ(first.item, second.item);
  EXPECT_EQ(window.touch(0, {.record = 3, .use = 2, .uses = 3}).item, first.item);
  EXPECT_EQ(window.size(), 0U);
}

TEST(Window, StartsInTheMiddleOfARecordsUsesAfterAResume) {
  Window window(std::make_shared<CappedAccount>(100));
  EXPECT_TRUE(window.touch(2, {.record = 3, .use = 1, .uses = 3}).is_new);
  EXPECT_FALSE(window.touch(2, {.record = 3, .use = 2, .uses = 3}).is_new);
  EXPECT_EQ(window.size(), 0U);
}

TEST(Window, KeepsEpochsApart) {
  Window window(std::make_shared<CappedAccount>(100));
  const auto old_epoch = window.touch(0, {.record = 3, .use = 0, .uses = 2});
  const auto new_epoch = window.touch(1, {.record = 3, .use = 0, .uses = 2});
  EXPECT_TRUE(new_epoch.is_new);
  EXPECT_NE(old_epoch.item, new_epoch.item);
}

TEST(Window, TakesRowsBackAndKeepsTheirBytes) {
  auto account = std::make_shared<CappedAccount>(1000);
  Window window(account);
  const auto held = window.touch(0, {.record = 3, .use = 0, .uses = 2}).item;
  // To be planned again: the last use of 3, both uses of 4, and 5, whose bytes are not requested.
  auto last = window.touch(0, {.record = 3, .use = 1, .uses = 2});
  auto first = window.touch(0, {.record = 4, .use = 0, .uses = 2});
  auto second = window.touch(0, {.record = 4, .use = 1, .uses = 2});
  auto later = window.touch(0, {.record = 5, .use = 0, .uses = 1});
  const Item* const fourth = first.item.get();
  first.item->count_ahead(100, 0);
  window.take_back(std::move(later.item), later.is_first, false);
  window.take_back(std::move(second.item), second.is_first, true);
  window.take_back(std::move(first.item), first.is_first, true);
  window.take_back(std::move(last.item), last.is_first, true);

  EXPECT_EQ(window.touch(0, {.record = 3, .use = 1, .uses = 2}).item, held);
  const auto again = window.touch(0, {.record = 4, .use = 0, .uses = 3});
  EXPECT_EQ(again.item.get(), fourth);
  EXPECT_TRUE(again.is_first);
  EXPECT_FALSE(again.is_new);
  {
    const MutexLock lock(again.item->mutex);
    EXPECT_EQ(again.item->uses_left, 3U);
  }
  EXPECT_TRUE(window.touch(0, {.record = 5, .use = 0, .uses = 3}).is_new);
  EXPECT_FALSE(window.has_taken_back());
}

TEST(Window, GivesTheRoomOfRowsBackThatWereTakenBack) {
  auto account = std::make_shared<CappedAccount>(1000);
  Window window(account);
  auto touched = window.touch(0, {.record = 3, .use = 0, .uses = 1});
  touched.item->count_ahead(100, 0);
  window.take_back(std::move(touched.item), touched.is_first, true);
  EXPECT_TRUE(window.has_taken_back());
  EXPECT_EQ(account->ahead, 100);
  window.drop_taken_back();
  EXPECT_EQ(account->ahead, 0);
  EXPECT_TRUE(window.touch(0, {.record = 3, .use = 0, .uses = 1}).is_new);
}

TEST(Window, DropsAnItemWhoseLastUseAnotherHostHas) {
  Window window(std::make_shared<CappedAccount>(1000));
  window.touch(0, {.record = 7, .use = 0, .uses = 3});
  window.leave_out(0, {.record = 7, .use = 1, .uses = 3});
  EXPECT_EQ(window.size(), 1U) << "a use is left";
  window.leave_out(1, {.record = 7, .use = 2, .uses = 3});
  EXPECT_EQ(window.size(), 1U) << "another epoch";
  window.leave_out(0, {.record = 7, .use = 2, .uses = 3});
  EXPECT_EQ(window.size(), 0U);
}

}  // namespace
}  // namespace echoline::echo
