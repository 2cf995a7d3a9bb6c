// Runs of a job in a real etcd: who takes part, and one log of changes for all.
#include "agree/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <utility>

#include "agree/etcd_store.h"
#include "servers/server_process.h"

namespace echoline::agree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::SizeIs;

// GoogleTest has a Run of its own.
using Host = Run;

class Runs : public testing::Test {
 protected:
  void SetUp() override {
    if (etcd_.missing()) GTEST_SKIP() << "etcd is not installed";
    ASSERT_TRUE(etcd_.ready());
  }
  Host host(const std::string& name) { return {store_, "/test/job/", name}; }
  static Change wanted(const std::string& id) { return {.by = id, .id = id, .values = {2000}}; }
  // The first change that the host is not done with.
  static std::optional<Host::Numbered> next(Host& run) {
    auto change = run.next();
    EXPECT_TRUE(change.ok()) << change.status().message();
    return change.ok() ? *change : std::nullopt;
  }

  ServerProcess etcd_{"etcd_server.py"};
  StoreCounts counts_;
  // The first address answers nobody: the next one is asked.
  EtcdStore store_{{.endpoints = {"127.0.0.1:1", etcd_.fact("address")}}, counts_};
};

TEST_F(Runs, OneHostIsFirstAndOneClosesTheChange) {
  Host one = host("one"), other = host("other");
  ASSERT_TRUE(one.join({.host = "A", .ranks = {0}}, false).ok());
  ASSERT_TRUE(other.join({.host = "B", .ranks = {1}}, false).ok());
  EXPECT_FALSE(next(one).has_value());
  EXPECT_TRUE(one.propose(wanted("one")).value());
  EXPECT_FALSE(other.propose(wanted("other")).value());
  const auto open = next(other);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->change.id, "one");
  const Reply reply{.epoch = 1, .row = 5, .batch_rows_most = 8, .factor = 1, .weights = {3, 4}};
  ASSERT_TRUE(other.reply(*open, reply).ok());
  const Host::Party party = one.party(open->number).value();
  EXPECT_EQ(party.replies.at("other").row, 5U);
  EXPECT_EQ(party.replies.at("other").weights, reply.weights);
  EXPECT_EQ(missing_ranks(party, 3), std::vector<std::uint32_t>{2});
  Change decided = open->change;
  decided.state = Change::State::kDecided;
  decided.place = {.epoch = 1, .begin = 7, .since_epoch = 1, .since_row = 6};
  decided.list = {{0, {1000}}, {7, {2000}}};
  EXPECT_TRUE(one.close(*open, decided).value());
  decided.state = Change::State::kCancelled;
  EXPECT_FALSE(other.close(*open, decided).value());
  const auto closed = next(other);
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->change.state, Change::State::kDecided);
  EXPECT_EQ(closed->change.place.begin, 7U);
  EXPECT_EQ(closed->change.values, Values{2000});
  EXPECT_EQ(closed->change.list[1], std::pair(std::uint64_t{7}, Values{2000}));
  other.finish(*closed);
  EXPECT_FALSE(next(other).has_value());
}

TEST_F(Runs, ARunEndsWithItsLastHostUnlessTrainersReturn) {
  Host first = host("first");
  ASSERT_TRUE(first.join({.host = "A", .ranks = {0}}, false).ok());
  ASSERT_TRUE(first.propose(wanted("first")).value());
  Host joins = host("joins"), returns = host("returns"), begins = host("begins");
  ASSERT_TRUE(joins.join({.host = "B", .ranks = {1}}, false).ok());
  EXPECT_TRUE(next(joins).has_value()) << "another host was there";
  first.leave();
  joins.leave();
  ASSERT_TRUE(returns.join({.host = "A", .ranks = {0}}, true).ok());
  EXPECT_TRUE(next(returns).has_value()) << "its trainers are of that run";
  returns.leave();
  ASSERT_TRUE(begins.join({.host = "A", .ranks = {0}}, false).ok());
  EXPECT_FALSE(next(begins).has_value());
  EXPECT_EQ(returns.next().status().code(), Code::kFailedPrecondition);
  EXPECT_THAT(begins.party(0).value().members, SizeIs(1));
}

TEST_F(Runs, ALeaseThatEndedIsMadeAgain) {
  Host run = host("one");
  ASSERT_TRUE(run.join({.host = "A", .ranks = {0}}, false).ok());
  ASSERT_TRUE(store_.revoke(run.lease()).ok());
  EXPECT_THAT(run.party(0).value().members, SizeIs(0));
  ASSERT_TRUE(run.keep().ok());
  EXPECT_THAT(run.party(0).value().members, SizeIs(1));
}

TEST_F(Runs, ALeaseThatEndedBeforeAJoinIsAskedForAgain) {
  Host run = host("one");
  const Member member{.host = "A", .ranks = {0}};
  ASSERT_TRUE(run.join(member, false).ok());
  ASSERT_TRUE(store_.revoke(run.lease()).ok());
  // In the run that is there, and in a new one.
  for (const bool continues : {true, false}) {
    EXPECT_EQ(run.join(member, continues).code(), Code::kNotFound);
    ASSERT_TRUE(run.join(member, continues).ok());
    EXPECT_THAT(run.party(0).value().members, SizeIs(1));
    ASSERT_TRUE(store_.revoke(run.lease()).ok());
  }
}

TEST_F(Runs, WhoseLeaseEndedBeforeAnotherRunBeganIsNoPartOfIt) {
  Host late = host("late"), begins = host("begins");
  ASSERT_TRUE(late.join({.host = "A", .ranks = {0}}, false).ok());
  ASSERT_TRUE(store_.revoke(late.lease()).ok());
  ASSERT_TRUE(begins.join({.host = "B", .ranks = {0}}, false).ok());
  EXPECT_THAT(late.keep().message(), HasSubstr("start it again on all hosts"));
  EXPECT_EQ(late.update({}).code(), Code::kFailedPrecondition);
  EXPECT_FALSE(late.propose(wanted("late")).value());
  EXPECT_THAT(begins.party(0).value().members, ElementsAre(Key("begins")));
  EXPECT_FALSE(next(begins).has_value());
}

// A store that does the next step, but whose answer is lost, or that does not get it.
class LostAnswer : public Store {
 public:
  explicit LostAnswer(Store& store) : store_(store) {}
  Result<Outcome> commit(const Transaction& transaction) override {
    if (std::exchange(fails_next, false)) return Status(Code::kUnavailable, "lost");
    Result<Outcome> outcome = store_.commit(transaction);
    if (!std::exchange(loses_next, false)) return outcome;
    return Status(Code::kUnavailable, "lost");
  }
  Result<std::int64_t> grant(std::int64_t seconds) override { return store_.grant(seconds); }
  Status keep(std::int64_t lease) override { return store_.keep(lease); }
  Status revoke(std::int64_t lease) override { return store_.revoke(lease); }

  bool loses_next = false;
  bool fails_next = false;

 private:
  Store& store_;
};

TEST_F(Runs, ALeaseThatEndedIsMadeAgainAfterAFailureToRegister) {
  LostAnswer lossy(store_);
  Host run(lossy, "/test/job/", "one");
  ASSERT_TRUE(run.join({.host = "A", .ranks = {0}}, false).ok());
  ASSERT_TRUE(store_.revoke(run.lease()).ok());
  lossy.fails_next = true;
  EXPECT_FALSE(run.keep().ok());
  EXPECT_TRUE(run.keep().ok());
  EXPECT_THAT(run.party(0).value().members, SizeIs(1));
}

TEST_F(Runs, AStepWhoseAnswerWasLostIsFoundAndNotMadeTwice) {
  LostAnswer lossy(store_);
  Host run(lossy, "/test/job/", "one"), other = host("other");
  const Member member{.host = "A", .ranks = {0}};
  lossy.loses_next = true;
  EXPECT_EQ(run.join(member, false).code(), Code::kUnavailable);
  ASSERT_TRUE(run.join(member, false).ok());
  ASSERT_TRUE(other.join({.host = "B", .ranks = {1}}, false).ok());
  lossy.loses_next = true;
  EXPECT_FALSE(run.propose(wanted("one")).ok());
  EXPECT_FALSE(run.propose(wanted("one")).value());
  const auto open = next(run);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->change.id, "one") << "it is its own";
  ASSERT_TRUE(other.reply(*open, {.row = 7}).ok());
  Change cancelled = open->change;
  cancelled.state = Change::State::kCancelled;
  lossy.loses_next = true;
  EXPECT_FALSE(run.close(*open, cancelled).ok());
  EXPECT_FALSE(run.close(*open, cancelled).value());
  ASSERT_TRUE(other.reply(*open, {.row = 8}).ok());
  EXPECT_THAT(run.party(open->number).value().replies, SizeIs(0)) << "it was closed before";
  run.finish(next(run).value());
  EXPECT_FALSE(next(run).has_value());
}

TEST_F(Runs, TheLogKeepsItsNewestChanges) {
  Host run = host("one");
  ASSERT_TRUE(run.join({.host = "A", .ranks = {0}}, false).ok());
  constexpr std::uint32_t kNumber = Host::kLogMost + 10;
  for (const std::uint32_t number : {9U, 10U}) {
    Host::Numbered before{.number = number - 1, .text = {}, .change = {}};
    run.finish(before);
    ASSERT_TRUE(run.propose(wanted("old")).value());
  }
  Host::Numbered before{.number = kNumber - 1, .text = {}, .change = {}};
  run.finish(before);
  ASSERT_TRUE(run.propose(wanted("new")).value());
  run.finish({.number = 0, .text = {}, .change = {}});
  EXPECT_EQ(next(run).value().number, 10U);
}

TEST_F(Runs, WhatNoDaemonWroteAndAnEtcdThatIsAwayAreErrors) {
  Host run = host("one");
  ASSERT_TRUE(run.join({.host = "A", .ranks = {0}}, false).ok());
  for (const char* text :
       {"", "{}", "[1]", R"({"state": "open", "by": 1, "id": "", "kind": "factor", "values": [1]})",
        R"({"state": "open", "by": "", "id": "", "kind": "factor", "values": [1, 2]})"}) {
    ASSERT_TRUE(store_.commit({.writes = {{"/test/job/log/0000000001", text}}}).ok());
    EXPECT_EQ(run.next().status().code(), Code::kDataLoss) << text;
  }
  ::kill(std::stoi(etcd_.fact("pid")), SIGSTOP);
  Code code = Code::kDataLoss;
  // Its threads stop one after the other.
  while (code == Code::kDataLoss) code = run.next().status().code();
  EXPECT_EQ(code, Code::kUnavailable);
  const std::int64_t lease = run.lease();
  EXPECT_EQ(run.keep().code(), Code::kUnavailable);
  EXPECT_EQ(run.lease(), lease) << "it may go on";
  ::kill(std::stoi(etcd_.fact("pid")), SIGCONT);
  EXPECT_EQ(run.next().status().code(), Code::kDataLoss);
  EXPECT_TRUE(run.keep().ok());
  EXPECT_EQ(counts_.failed, 2U);
}

}  // namespace
}  // namespace echoline::agree
