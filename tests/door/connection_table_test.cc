// Limits, deadlines and withdrawals of the door's connections, without a listener or a thread.
#include "serve/door/connection_table.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "serve/door/door_loop.h"
#include "test_trainer.h"

namespace echoline::serve {
namespace {

class OpenTable : public testing::Test {
 protected:
  // A connection of this user; the trainer's end stays open.
  std::uint64_t add(uid_t uid, std::uint64_t deadline_ns = 100,
                    ConnectionState state = ConnectionState::kAwaitingRequest) {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    peers_.emplace_back(ends[1]);
    const std::uint64_t id =
        table_.add(UniqueFd(ends[0]), engine::Peer{uid, 0, 1, {}}, deadline_ns);
    table_.find(id)->state = state;
    return id;
  }

  RecordingEngine engine_;
  ConnectionTable table_{engine_};
  std::vector<UniqueFd> peers_;
};

TEST_F(OpenTable, EvictsTheOldestSilentConnectionOfTheUserWithTheMost) {
  add(2);
  add(1, 100, ConnectionState::kAttached);
  const std::uint64_t oldest = add(1);
  for (std::size_t i = 2; i < kAwaitingRequestMax - 1; ++i) add(1);
  EXPECT_FALSE(table_.to_evict()) << "one below the limit";
  add(2);
  EXPECT_EQ(table_.to_evict(), oldest);
}

TEST_F(OpenTable, CountsTheTrainersOfAUserWithoutItsSilentConnections) {
  add(1);
  add(1, 100, ConnectionState::kAwaitingReply);
  add(1, 100, ConnectionState::kAttached);
  add(2, 100, ConnectionState::kAttached);
  EXPECT_EQ(table_.trainers_of(1), 2U);
  EXPECT_EQ(table_.trainers_of(2), 1U);
  EXPECT_EQ(table_.trainers_of(3), 0U);
}

TEST_F(OpenTable, RefusesOverdueConnectionsAndNoOthers) {
  const std::uint64_t attached = add(1, 10, ConnectionState::kAttached);
  const std::uint64_t overdue = add(1, 20);
  const std::uint64_t later = add(1, 30);
  EXPECT_EQ(table_.next_deadline_ns(), 20U);
  table_.expire(19);
  EXPECT_NE(table_.find(overdue), nullptr);
  table_.expire(20);
  EXPECT_EQ(table_.find(overdue), nullptr);
  EXPECT_NE(table_.find(attached), nullptr);
  EXPECT_NE(table_.find(later), nullptr);
  EXPECT_EQ(table_.next_deadline_ns(), 30U);
  shm::AttachReply reply{};
  EXPECT_EQ(recv(peers_[1].get(), &reply, sizeof reply, 0), static_cast<ssize_t>(sizeof reply));
  EXPECT_EQ(reply.code, static_cast<std::uint32_t>(Code::kDeadlineExceeded));
}

TEST_F(OpenTable, WithdrawsWhatTheEngineKnowsOnceAndARefusedOneNever) {
  const std::uint64_t silent = add(1);
  const std::uint64_t asking = add(1, 100, ConnectionState::kAwaitingReply);
  const std::uint64_t refused = add(1, 100, ConnectionState::kAwaitingReply);
  const std::uint64_t attached = add(1, 100, ConnectionState::kAttached);
  table_.close(silent);
  table_.refuse(refused, Status(Code::kNotFound, "no stream"));
  table_.close(asking);
  table_.close(asking);
  table_.close_all();
  EXPECT_EQ(engine_.withdrawn(), (std::vector<std::uint64_t>{asking, attached}));
  EXPECT_EQ(table_.count(), 0U);
}

TEST(DoorLoopSteps, AcceptReadAndDeliverInRoundsOfOneThread) {
  const SocketFolder folder;
  RecordingEngine engine;
  auto outbox = DoorOutbox::open();
  auto address = DoorAddress::take(folder.path());
  ASSERT_TRUE(outbox.ok() && address.ok());
  auto loop = DoorLoop::create(std::move(address).value(), engine, outbox.value());
  ASSERT_TRUE(loop.ok());
  const TestTrainer trainer(folder.path());
  (*loop)->do_work(0);
  EXPECT_EQ((*loop)->connection_count(), 1U);
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_TRUE(engine.asked().empty());
  (*loop)->do_work(0);
  EXPECT_EQ(engine.asked().size(), 1U);
  (*loop)->do_work(0);
  EXPECT_EQ(trainer.receive().descriptors.size(), 2U);
  EXPECT_EQ((*loop)->rounds(), 3U);
}

}  // namespace
}  // namespace echoline::serve
