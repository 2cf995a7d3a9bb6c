// The trainer's position: states, breaks, skips, and options that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/checked_batch.h"
#include "client/server_process.h"

namespace echoline::test {
namespace {

using testing::HasSubstr;

std::string failure(const std::string& dir, LoaderOptions options,
                    const std::string& stream = "train") {
  options.runtime_dir = dir;
  try {
    Loader loader(stream, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "attached";
}

TEST(Position, AStateContinuesWithTheNextBatch) {
  for (int taken = 0; taken <= 25; ++taken) {
    ServerProcess server({"batch=4", "rows=40"});
    std::string state;
    std::vector<std::int64_t> rest;
    {
      Loader loader("train", {.runtime_dir = server.dir()});
      state = loader.state();
      for (int given = 0; given < 30;) {
        const auto batch = loader.next();
        if (!batch) continue;
        if (++given == taken) state = loader.state();
        if (given > taken) rest.push_back(batch->tensor<std::int64_t>("label")[0]);
      }
    }
    server.kill();
    server.start_again();
    Loader loader("train", {.runtime_dir = server.dir(), .state = state});
    EXPECT_EQ(loader.state(), state);
    for (std::size_t i = 0; i < rest.size();) {
      const auto batch = loader.next();
      if (batch) {
        EXPECT_EQ(batch->tensor<std::int64_t>("label")[0], rest[i++]) << "taken after " << taken;
      }
    }
  }
}

TEST(Position, AfterAnEpochsLastBatchTheStateIsTheNextEpochsStart) {
  for (const char* last : {"last=1", "last=2", "last=3"}) {
    ServerProcess server({"batch=4", "rows=42", last});
    Loader loader("train", {.runtime_dir = server.dir()});
    for (const Batch& batch : loader.epoch()) {
      const std::string state = loader.state();
      if (batch.last_of_epoch()) {
        EXPECT_THAT(state, HasSubstr("\"epoch\":1,\"row\":0,")) << last;
      } else {
        EXPECT_THAT(state,
                    HasSubstr("\"epoch\":0,\"row\":" + std::to_string(batch.step() * 4 + 4) + ","));
      }
    }
  }
}

TEST(Position, AnotherBatchSizeAndWorldSizeContinueAtTheRow) {
  ServerProcess server({"batch=4", "rows=42", "last=2", "slots=8"});
  std::string state;
  {
    Loader loader("train", {.runtime_dir = server.dir()});
    for (int i = 0; i < 3; ++i) loader.next();
    state = loader.state();
  }
  server.kill();
  server.start_again();
  Loader loader(
      "train",
      {.rank = 1, .world_size = 2, .batch_size = 10, .runtime_dir = server.dir(), .state = state});
  EXPECT_EQ(checked_rows(*loader.next()), rows_between(17, 22));
  EXPECT_EQ(checked_rows(*loader.next()), rows_between(27, 32));
  EXPECT_EQ(checked_rows(*loader.next()), rows_between(37, 42));
  EXPECT_FALSE(loader.next());
  EXPECT_EQ(checked_rows(*loader.next()), rows_between(5, 10));
}

TEST(Position, ABreakSkipsTheRestOfTheEpoch) {
  ServerProcess server({"batch=4", "rows=40"});
  Loader loader("train", {.runtime_dir = server.dir()});
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    std::uint64_t step = 0;
    for (const Batch& batch : loader.epoch()) {
      EXPECT_EQ(batch.epoch(), epoch);
      EXPECT_EQ(checked_rows(batch), rows_between(step * 4, step * 4 + 4));
      if (++step == epoch * 3 + 1) break;
    }
    EXPECT_EQ(step, epoch * 3 + 1);
  }
}

TEST(Position, ABatchThatIsHeldAfterABreakIsCopiedAndNeverChanges) {
  ServerProcess server({"batch=4", "rows=400", "slots=4", "ragged=1"});
  Loader loader("train", {.runtime_dir = server.dir()});
  const auto* arena = loader.fields()[0].arena;
  Batch kept = *loader.next();
  Batch other = *loader.next();
  const auto* pixels = kept.tensor<std::uint8_t>("image").data();
  loader.begin_epoch();
  for (std::uint64_t step = 0; step < 20; ++step) {
    const Batch batch = *loader.next();
    EXPECT_EQ(batch.epoch(), 1U);
    EXPECT_EQ(checked_rows(batch), rows_between(step * 4, step * 4 + 4));
  }
  EXPECT_NE(loader.fields()[0].arena, arena) << "the ring is mapped again";
  EXPECT_EQ(kept.tensor<std::uint8_t>("image").data(), pixels);
  EXPECT_EQ(checked_rows(kept), rows_between(0, 4));
  EXPECT_EQ(checked_rows(other), rows_between(4, 8));
  EXPECT_EQ(other.ragged<std::int32_t>("tokens")[3][1], made_token(7, 1));
}

TEST(Position, ALoadedStateInTheMiddleOfAnEpochIsNotABreak) {
  ServerProcess server({"batch=4", "rows=40"});
  std::string state;
  {
    Loader loader("train", {.runtime_dir = server.dir()});
    loader.skip(7);
    state = loader.state();
  }
  Loader loader("train", {.runtime_dir = server.dir(), .state = state});
  std::uint64_t steps = 0;
  for (const Batch& batch : loader.epoch()) EXPECT_EQ(batch.step(), 7 + steps++);
  EXPECT_EQ(steps, 3U);
}

TEST(Position, SkipsCrossEpochs) {
  ServerProcess server({"batch=4", "rows=42", "last=2"});
  Loader loader("train", {.runtime_dir = server.dir()});
  loader.next();
  loader.skip(2);
  EXPECT_EQ(loader.next()->step(), 3U);
  loader.skip(11 + 6);
  EXPECT_FALSE(loader.next());
  const auto batch = loader.next();
  EXPECT_EQ(batch->epoch(), 1U);
  EXPECT_EQ(batch->step(), 10U);
}

TEST(Position, JoinNextEpochBeginsAtTheNextEpoch) {
  ServerProcess server({"batch=4", "rows=40"});
  Loader loader("train", {.join = Join::kNextEpoch, .runtime_dir = server.dir()});
  EXPECT_EQ(loader.next()->epoch(), 1U);
}

TEST(Position, OptionsThatDoNotFitAreRefusedWithTheReason) {
  ServerProcess server({"batch=4", "rows=40", "slots=2"});
  const std::string& dir = server.dir();
  EXPECT_THAT(failure(dir, {.rank = 2, .world_size = 2}), HasSubstr("rank 2"));
  EXPECT_THAT(failure(dir, {.world_size = 3, .batch_size = 4}), HasSubstr("not divisible"));
  EXPECT_THAT(failure(dir, {.world_size = 3}), HasSubstr("not divisible"));
  EXPECT_THAT(failure(dir, {.batch_size = 9}), HasSubstr("publish.slots"));
  EXPECT_THAT(failure(dir, {.batch_size = 41}), HasSubstr("publish.slots"));
  EXPECT_THAT(failure(dir, {}, "test"), HasSubstr("streams: train"));
  EXPECT_THAT(failure(dir, {.job = std::string(128, 'j')}), HasSubstr("job"));
  EXPECT_THAT(failure(dir + "/none", {}), HasSubstr("no daemon answers at " + dir + "/none"));
  EXPECT_THAT(failure(dir, {.expect = "00112233445566778899aabbccddeeff"}),
              HasSubstr("failed precondition"));
  EXPECT_THAT(failure(dir, {.state = "{}"}), HasSubstr("not one that Echoline wrote"));
}

TEST(Position, AStateOfAnotherStreamIsRefused) {
  ServerProcess server;
  Loader loader("train", {.runtime_dir = server.dir()});
  std::string state = loader.state();
  state.replace(state.find("train"), 5, "other");
  EXPECT_THAT(failure(server.dir(), {.state = state}), HasSubstr("stream 'other'"));
  std::string seed = loader.state();
  seed.replace(seed.find("a0a0"), 4, "a0a1");
  EXPECT_THAT(failure(server.dir(), {.state = seed}), HasSubstr("another seed"));
}

}  // namespace
}  // namespace echoline::test
