// Changes of the order of a job on several hosts, which agree through an etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agree/etcd_store.h"
#include "agree/run.h"
#include "e2e/rig.h"
#include "servers/server_process.h"

namespace echoline::e2e {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::uint32_t kBatch = 8;

std::string steps(const std::string& echo) {
  return "      - shuffle: {window: 40}\n      - decode: {image: {key: u8, as: uint8, shape: [64, "
         "64, 1]}, label: {key: cls, as: int64}}\n      - echo: " +
         echo + "\n      - batch: {size: 8, last: partial}\n      - publish: {slots: 4}\n";
}
const std::string kSteps = steps("{factor: 1, max: 3, window: 96, allow_repeats: true}");

class Agreement : public testing::Test {
 protected:
  void SetUp() override {
    if (etcd_.missing()) GTEST_SKIP() << "etcd is not installed";
    ASSERT_TRUE(etcd_.ready());
  }

  std::unique_ptr<Rig> rig(bool agrees) {
    return std::make_unique<Rig>(RigOptions{.shards = 4,
                                            .records_per_shard = 300,
                                            .side = 64,
                                            .reattach_grace = "1s",
                                            .etcd = agrees ? etcd_.fact("address") : ""});
  }
  std::unique_ptr<Rig> host(const std::string& steps = kSteps, bool agrees = true,
                            const std::string& read_keys = ", read_ahead: 128KiB") {
    auto rig = this->rig(agrees);
    const Status created = rig->create("train", steps, "lanes: 2", read_keys);
    EXPECT_TRUE(created.ok()) << created.message();
    return rig;
  }
  // With each shard as a source, a to d.
  std::unique_ptr<Rig> mixture(bool agrees = true) {
    auto rig = this->rig(agrees);
    std::string sources;
    for (const std::uint64_t shard : {0, 1, 2, 3}) {
      sources += std::string(shard == 0 ? "" : ", ") + "{name: " + "abcd"[shard] + ", weight: 1" +
                 ", read: {url: \"" + rig->shard_path(shard).string() + "\", read_ahead: 128KiB}}";
    }
    const Status created = rig->create_whole(
        "train",
        "      - mix: {at_end: repeat, records: 1200, sources: [" + sources + "]}\n" + kSteps,
        "lanes: 2");
    EXPECT_TRUE(created.ok()) << created.message();
    return rig;
  }
  static Loader rank(const Rig& rig, std::uint32_t rank, const std::string& state = "") {
    return rig.attach("train",
                      {.rank = rank, .world_size = 2, .local_world_size = 1, .state = state});
  }
  static std::uint32_t factor(Rig& rig) { return rig.engine().stats().streams.at(0).factor; }
  void signal_etcd(int signal) { ::kill(std::stoi(etcd_.fact("pid")), signal); }

  // The rows that a single host gives with the changes of this state's epoch, from row 0 on.
  static std::vector<SeenRow> expected(const Rig& alone, std::string state, std::uint64_t batches) {
    const std::size_t row = state.find("\"row\":");
    state.replace(row, state.find_first_of(",}", row) - row, "\"row\":0");
    Loader loader = alone.attach("train", {.state = state});
    return read_batches(loader, batches);
  }
  static void expect_halves(const std::array<std::vector<SeenRow>, 2>& seen,
                            const std::vector<SeenRow>& whole) {
    ASSERT_EQ(seen[0].size() + seen[1].size(), whole.size());
    for (std::size_t row = 0; row < whole.size(); ++row) {
      const std::size_t at = row / kBatch * (kBatch / 2) + row % (kBatch / 2);
      ASSERT_EQ(seen.at(row % kBatch / (kBatch / 2)).at(at), whole[row]) << "row " << row;
    }
  }

  ServerProcess etcd_{"etcd_server.py"};
};

// A trainer that reads in a thread of its own, the last batches only when `changed` is set.
std::future<std::vector<SeenRow>> reading(Loader& loader, std::uint64_t batches,
                                          const std::atomic<bool>& changed) {
  return std::async(std::launch::async, [&loader, &changed, batches] {
    std::vector<SeenRow> rows;
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
      append_rows(*loader.next(), rows);
      do {
        std::this_thread::sleep_for(milliseconds(2));
      } while (batch >= 60 && !changed);
    }
    return rows;
  });
}

TEST_F(Agreement, AChangeBeginsAtTheSameBatchOnAllHosts) {
  constexpr std::uint64_t kBatches = 145;  // of one epoch
  std::atomic<bool> changed{false};
  const auto one = host(), other = host();
  Loader first = rank(*one, 0), second = rank(*other, 1);
  auto first_rows = reading(first, kBatches, changed);
  auto second_rows = reading(second, kBatches, changed);
  const auto twice = one->engine().set_echo("train", 2000);
  const auto thrice = other->engine().set_echo("train", 3000);
  changed = true;
  ASSERT_TRUE(twice.ok()) << twice.status().message();
  ASSERT_TRUE(thrice.ok()) << thrice.status().message();
  ASSERT_EQ(twice.value().size(), 1U);
  EXPECT_EQ(twice.value()[0].jobs, std::vector<std::string>{"default"});
  const std::array<std::vector<SeenRow>, 2> seen{first_rows.get(), second_rows.get()};
  EXPECT_EQ(first.state(), second.state());
  EXPECT_THAT(first.state(), HasSubstr("3000"));
  expect_halves(seen, expected(*host(kSteps, false), first.state(), kBatches));
}

TEST_F(Agreement, WeightsChangeAtTheSameRowOnAllHosts) {
  constexpr std::uint64_t kBatches = 140;  // of one epoch
  std::atomic<bool> changed{false};
  const auto one = mixture(), other = mixture();
  // Only on this host, before the job.
  ASSERT_TRUE(other->engine().set_weights("train", {{"a", 7000}}).ok());
  Loader first = rank(*one, 0), second = rank(*other, 1);
  auto first_rows = reading(first, kBatches, changed);
  auto second_rows = reading(second, kBatches, changed);
  const auto more_of_b = other->engine().set_weights("train", {{"b", 5000}});
  const auto twice = one->engine().set_echo("train", 2000);
  const auto more_of_c = one->engine().set_weights("train", {{"c", 3000}});
  changed = true;
  const std::array<std::vector<SeenRow>, 2> seen{first_rows.get(), second_rows.get()};
  ASSERT_TRUE(more_of_b.ok()) << more_of_b.status().message();
  ASSERT_TRUE(twice.ok()) << twice.status().message();
  ASSERT_TRUE(more_of_c.ok()) << more_of_c.status().message();
  ASSERT_EQ(more_of_c.value().size(), 1U);
  EXPECT_EQ(more_of_c.value()[0].jobs, std::vector<std::string>{"default"});
  EXPECT_EQ(first.state(), second.state());
  EXPECT_THAT(first.state(), HasSubstr("1000,5000,3000,1000"));
  expect_halves(seen, expected(*mixture(false), first.state(), kBatches));
}

TEST_F(Agreement, ADaemonThatRestartsMakesTheChangesOfItsRun) {
  constexpr std::uint64_t kBatches = 140;
  const auto one = mixture(), other = mixture();
  Loader first = rank(*one, 0), second = rank(*other, 1);
  std::array<std::vector<SeenRow>, 2> seen{read_batches(first, 4), read_batches(second, 4)};
  ASSERT_TRUE(one->engine().set_echo("train", 2000).ok());
  ASSERT_TRUE(one->engine().set_weights("train", {{"b", 5000}}).ok());
  // Its trainer is before the changes, so its state does not tell of them.
  EXPECT_THAT(second.state(), testing::Not(HasSubstr("000,")));
  other->restart();
  const std::atomic<bool> changed{true};
  auto first_rows = reading(first, kBatches, changed);
  for (const SeenRow& row : read_batches(second, kBatches)) seen[1].push_back(row);
  for (const SeenRow& row : first_rows.get()) seen[0].push_back(row);
  expect_halves(seen, expected(*mixture(false), first.state(), kBatches + 4));
}

// It must not join a pass with a change to come: on the other host it may find none.
TEST_F(Agreement, AnotherJobBeginsWithTheConfiguredFactorOnAllHosts) {
  constexpr std::uint64_t kBatches = 140;
  const auto one = host(), other = host();
  const Loader first = rank(*one, 0), second = rank(*other, 1);
  ASSERT_TRUE(one->engine().set_echo("train", 2000).ok());
  const auto later = [](const Rig& rig, std::uint32_t rank) {
    Loader loader =
        rig.attach("train", {.job = "later", .rank = rank, .world_size = 2, .local_world_size = 1});
    return read_batches(loader, kBatches);
  };
  const auto alone = host(kSteps, false);
  Loader unchanged = alone->attach("train");
  expect_halves({later(*one, 0), later(*other, 1)}, read_batches(unchanged, kBatches));
}

TEST_F(Agreement, AMixtureHasTheWeightsOfTheStateOnAllHosts) {
  constexpr std::uint64_t kBatches = 80;
  const auto alone = mixture(false), one = mixture(), other = mixture();
  Loader begun = alone->attach("train");
  read_batches(begun, 1);
  ASSERT_TRUE(alone->engine().set_weights("train", {{"b", 5000}}).ok());
  std::uint64_t read = 1;
  for (; begun.state().find("weights") == std::string::npos; ++read) read_batches(begun, 1);
  // Only on this host: not for the job that comes with a state.
  ASSERT_TRUE(other->engine().set_weights("train", {{"a", 5000}}).ok());
  Loader first = rank(*one, 0, begun.state()), second = rank(*other, 1, begun.state());
  std::atomic<bool> changed{false};
  auto first_rows = reading(first, kBatches, changed);
  auto second_rows = reading(second, kBatches, changed);
  const auto twice = other->engine().set_echo("train", 2000);
  changed = true;
  const std::array<std::vector<SeenRow>, 2> seen{first_rows.get(), second_rows.get()};
  ASSERT_TRUE(twice.ok()) << twice.status().message();
  EXPECT_EQ(first.state(), second.state());
  EXPECT_THAT(first.state(), testing::AllOf(HasSubstr("2000"), HasSubstr("5000")));
  std::vector<SeenRow> whole = expected(*mixture(false), first.state(), read + kBatches);
  whole.erase(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(read * kBatch));
  expect_halves(seen, whole);
}

// Also where the hosts agree on nothing, as no host knows what was set on the others.
TEST_F(Agreement, WithoutAStateAJobHasTheConfiguredOrderOnAllHosts) {
  for (const bool agrees : {true, false}) {
    const auto one = mixture(agrees), other = mixture(agrees);
    ASSERT_TRUE(other->engine().set_weights("train", {{"a", 5000}}).ok());
    ASSERT_TRUE(other->engine().set_echo("train", 3000).ok());
    Loader first = rank(*one, 0), second = rank(*other, 1);
    const std::array<std::vector<SeenRow>, 2> seen{read_batches(first, 20),
                                                   read_batches(second, 20)};
    EXPECT_EQ(first.state(), second.state());
    expect_halves(seen, expected(*mixture(false), first.state(), 20));
  }
}

TEST_F(Agreement, RanksThatMayBeOnOtherHostsAreAwaitedBeforeAChange) {
  const auto one = mixture(false);
  const Loader first = one->attach("train", {.rank = 0, .world_size = 2});
  const auto missing = HasSubstr("1 of 2 ranks of job default are attached");
  EXPECT_THAT(one->engine().set_echo("train", 2000).status().message(), missing);
  EXPECT_THAT(one->engine().set_weights("train", {{"b", 4000}}).status().message(), missing);
  const Loader second = one->attach("train", {.rank = 1, .world_size = 2});
  EXPECT_TRUE(one->engine().set_echo("train", 2000).ok());
  EXPECT_TRUE(one->engine().set_weights("train", {{"b", 4000}}).ok());
}

TEST_F(Agreement, WithoutAllRanksOrEtcdTheFactorStays) {
  const auto one = host();
  Loader first = rank(*one, 0);
  EXPECT_THAT(one->engine().set_echo("train", 2000).status().message(),
              HasSubstr("job default has 2 ranks, and etcd knows no host of rank 1"));
  signal_etcd(SIGSTOP);
  EXPECT_THAT(one->engine().set_echo("train", 2000).status().message(),
              HasSubstr("etcd 127.0.0.1"));
  signal_etcd(SIGCONT);
  EXPECT_EQ(factor(*one), 1000U);
  EXPECT_EQ(read_batches(first, 100).size(), 400U) << "its batches do not need etcd";
}

// A host of which the test says what it does: rank 1 of the job.
class OtherHost {
 public:
  OtherHost(Rig& rig, const std::string& etcd)
      : store_({.endpoints = {etcd}}, counts_), run_(store_, root(rig), "other-host") {
    const Status joined = run_.join({.host = "other", .ranks = {1}}, false);
    EXPECT_TRUE(joined.ok()) << joined.message();
  }
  agree::Run* operator->() { return &run_; }
  // The open change, once the rig's daemon has replied to it.
  agree::Run::Numbered await_reply() {
    while (true) {
      const auto change = run_.next();
      if (change.ok() && change.value().has_value()) {
        const auto party = run_.party((*change.value()).number);
        if (party.ok() && !party.value().replies.empty()) return *change.value();
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
  }

 private:
  static std::string root(Rig& rig) {
    return "/echoline/train/" + rig.engine().stats().streams.at(0).fingerprint + "/default/2x8/";
  }
  agree::StoreCounts counts_;
  agree::EtcdStore store_;
  agree::Run run_;
};

TEST_F(Agreement, WithoutAnAnswerOfAHostTheFactorStays) {
  const auto one = host();
  Loader first = rank(*one, 0);
  OtherHost other(*one, etcd_.fact("address"));
  EXPECT_THAT(one->engine().set_echo("train", 2000).status().message(),
              HasSubstr("no answer from other (ranks 1)"));
  EXPECT_EQ(factor(*one), 1000U);
  EXPECT_EQ(read_batches(first, 100).size(), 400U);
}

TEST_F(Agreement, AHostThatHasAnsweredWaitsForTheDecisionAlsoWhileEtcdIsAway) {
  const auto one = host();
  Loader first = rank(*one, 0);
  OtherHost other(*one, etcd_.fact("address"));
  ASSERT_TRUE(other->propose({.by = "other", .id = "1", .values = {2000}}).value());
  const agree::Run::Numbered open = other.await_reply();
  signal_etcd(SIGSTOP);
  auto rows = std::async(std::launch::async, [&] { return read_batches(first, 149); });
  EXPECT_EQ(rows.wait_for(milliseconds(2500)), std::future_status::timeout);
  const engine::EngineStats held = one->engine().stats();
  EXPECT_EQ(held.streams.at(0).awaits_hosts, true);
  EXPECT_GT(held.etcd.value().answered, 0U);
  EXPECT_GT(held.etcd.value().failed, 0U);
  signal_etcd(SIGCONT);
  agree::Change cancelled = open.change;
  cancelled.state = agree::Change::State::kCancelled;
  while (!other->close(open, cancelled).ok()) {
  }
  EXPECT_EQ(rows.get().size(), 149U * 4);
  EXPECT_EQ(factor(*one), 1000U);
  EXPECT_EQ(one->engine().stats().streams.at(0).awaits_hosts, false);
}

TEST_F(Agreement, AutoFollowsTheSlowestHostOnAllOfThem) {
  const std::string automatic = steps("{factor: auto, max: 3, window: 96, allow_repeats: true}");
  const auto one = host(automatic);
  const auto other = host(automatic, true, ", read_ahead: 128KiB, throttle: {rate: 600KB/s}");
  Loader first = rank(*one, 0), second = rank(*other, 1);
  for (int batch = 0; batch < 20'000 && (factor(*one) == 1000 || factor(*other) == 1000); ++batch) {
    first.next();
    second.next();
    std::this_thread::sleep_for(milliseconds(3));
  }
  EXPECT_GT(factor(*one), 1000U);
  EXPECT_EQ(factor(*one), factor(*other));
  EXPECT_EQ(first.state(), second.state());
}

}  // namespace
}  // namespace echoline::e2e
