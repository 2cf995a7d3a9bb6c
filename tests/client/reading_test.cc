// A trainer reads every row once, in order, as views of shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "client/checked_batch.h"
#include "client/server_process.h"

namespace echoline::test {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> epoch_rows(Loader& loader) {
  std::vector<std::uint64_t> all;
  for (const Batch& batch : loader.epoch()) {
    const auto rows = checked_rows(batch);
    all.insert(all.end(), rows.begin(), rows.begin() + static_cast<long>(batch.valid_rows()));
  }
  return all;
}

TEST(Reading, AnEpochHasEachRowOnceInOrderAndTheNextEpochFollows) {
  ServerProcess server({"batch=4", "rows=40"});
  Loader loader("train", {.runtime_dir = server.dir()});
  EXPECT_EQ(loader.steps_per_epoch(), 10U);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    std::uint64_t step = 0;
    for (const Batch& batch : loader.epoch()) {
      EXPECT_EQ(batch.epoch(), epoch);
      EXPECT_EQ(batch.step(), step);
      EXPECT_EQ(checked_rows(batch), rows_between(step * 4, step * 4 + 4));
      EXPECT_EQ(batch.last_of_epoch(), step == 9);
      ++step;
    }
    EXPECT_EQ(step, 10U);
  }
}

TEST(Reading, FieldsAndInfoDescribeTheStream) {
  ServerProcess server({"ragged=1", "seed=9"});
  Loader loader("train", {.runtime_dir = server.dir()});
  const auto fields = loader.fields();
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_STREQ(fields[0].name, "image");
  EXPECT_EQ(fields[0].rank, 3U);
  EXPECT_EQ(fields[0].row_bytes, kImageBytes);
  EXPECT_STREQ(fields[2].name, "tokens");
  EXPECT_EQ(fields[2].ragged, 1U);
  const auto info = loader.info();
  EXPECT_EQ(info.seed, 9U);
  EXPECT_EQ(info.factor, 3000U);
  EXPECT_EQ(info.records_per_epoch, 14U);
  EXPECT_EQ(loader.fingerprint(), std::string(32, 'a').replace(1, 1, "9").substr(0, 2) +
                                      "a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9");
}

TEST(Reading, TensorsAreViewsInsideTheMapping) {
  ServerProcess server({"batch=6", "rows=60"});
  Loader loader("train", {.runtime_dir = server.dir()});
  const auto field = loader.fields()[0];
  for (int i = 0; i < 15; ++i) {
    const auto batch = loader.next();
    if (!batch) continue;
    const auto* data =
        reinterpret_cast<const std::byte*>(batch->tensor<std::uint8_t>("image").data());
    const auto* arena = static_cast<const std::byte*>(field.arena);
    EXPECT_GE(data, arena);
    EXPECT_LE(data + 6 * kImageBytes, arena + 2 * field.arena_bytes);
    EXPECT_THAT(batch->shape("image"), ElementsAre(6, 5, 7, 3));
  }
}

TEST(ReadingDeathTest, AWriteIntoABatchFaults) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        ServerProcess server;
        Loader loader("train", {.runtime_dir = server.dir()});
        const auto batch = loader.next();
        *const_cast<std::uint8_t*>(batch->tensor<std::uint8_t>("image").data()) = 1;
      },
      "");
}

TEST(Reading, AWrongNameOrTypeIsAnErrorThatListsTheFields) {
  ServerProcess server;
  Loader loader("train", {.runtime_dir = server.dir()});
  const auto batch = loader.next();
  try {
    batch->tensor<std::uint8_t>("picture");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ECHOLINE_NOT_FOUND);
    EXPECT_THAT(error.what(), testing::HasSubstr("image label"));
  }
  EXPECT_THROW(batch->tensor<float>("image"), Error);
  EXPECT_THROW(batch->ragged<std::uint8_t>("image"), Error);
}

// All batch sizes of a job; the rows wrap at the end of the arena many times.
TEST(Reading, AnyBatchSizeIsOneContiguousViewInTheSameOrder) {
  for (const std::uint32_t size : {1U, 3U, 4U, 5U, 7U, 8U, 12U}) {
    ServerProcess server({"batch=4", "rows=41", "slots=4", "last=2"});
    Loader loader("train", {.batch_size = size, .runtime_dir = server.dir()});
    EXPECT_EQ(loader.steps_per_epoch(), (41 + size - 1) / size);
    for (int epoch = 0; epoch < 7; ++epoch) {
      EXPECT_EQ(epoch_rows(loader), rows_between(0, 41)) << "batch size " << size;
    }
  }
}

TEST(Reading, UnderDropAnotherBatchSizeHasItsOwnTail) {
  ServerProcess server({"batch=8", "rows=30", "last=1"});
  Loader loader("train", {.batch_size = 5, .runtime_dir = server.dir()});
  EXPECT_EQ(loader.steps_per_epoch(), 6U);
  EXPECT_EQ(epoch_rows(loader), rows_between(0, 30));
  EXPECT_EQ(epoch_rows(loader), rows_between(0, 30));
}

TEST(Reading, UnderDropATailIsLeftOutWhetherItIsPublishedOrNot) {
  for (const char* tail : {"tail=0", "tail=1"}) {
    ServerProcess server({"batch=8", "rows=30", "last=1", tail});
    Loader loader("train", {.runtime_dir = server.dir()});
    EXPECT_EQ(loader.steps_per_epoch(), 3U);
    for (int epoch = 0; epoch < 3; ++epoch) {
      EXPECT_EQ(epoch_rows(loader), rows_between(0, 24)) << tail;
    }
  }
}

struct TailCase {
  std::uint32_t last, rows, world, batch;
};

void PrintTo(const TailCase& c, std::ostream* out) {
  constexpr const char* kNames[] = {"", "drop", "partial", "pad"};
  *out << kNames[c.last] << " of " << c.rows << " rows over " << c.world << " ranks, batch "
       << c.batch;
}

class Tails : public testing::TestWithParam<TailCase> {};

// Ranks read in turn. Together they get every row once and in order, and all have the same number
// of steps.
TEST_P(Tails, AllRanksTogetherReadTheStream) {
  const TailCase c = GetParam();
  ServerProcess server({"batch=8", "rows=" + std::to_string(c.rows), "slots=8",
                        "last=" + std::to_string(c.last), "consumers=" + std::to_string(c.world)});
  std::vector<Loader> ranks;
  for (std::uint32_t r = 0; r < c.world; ++r) {
    ranks.emplace_back(
        "train",
        LoaderOptions{
            .rank = r, .world_size = c.world, .batch_size = c.batch, .runtime_dir = server.dir()});
  }
  const bool drop = c.last == ECHOLINE_LAST_DROP;
  const std::uint64_t steps = drop ? c.rows / c.batch : (c.rows + c.batch - 1) / c.batch;
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t step = 0; step <= steps; ++step) {
      for (Loader& loader : ranks) {
        const auto batch = loader.next();
        ASSERT_EQ(batch.has_value(), step < steps);
        if (!batch) continue;
        const auto rows = checked_rows(*batch);
        ASSERT_GT(rows.size(), 0U);
        if (c.last == ECHOLINE_LAST_PAD) {
          EXPECT_EQ(rows.size(), c.batch / c.world);
        }
        all.insert(all.end(), rows.begin(), rows.begin() + static_cast<long>(batch->valid_rows()));
        for (std::size_t i = batch->valid_rows(); i < rows.size(); ++i) {
          const std::uint64_t own = batch->valid_rows();
          EXPECT_EQ(rows[i], own == 0 ? step * c.batch : rows[i % own]);
        }
      }
    }
    EXPECT_EQ(all, rows_between(0, drop ? steps * c.batch : c.rows));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Policies, Tails,
    testing::Values(TailCase{1, 50, 1, 8}, TailCase{1, 50, 4, 8}, TailCase{2, 50, 1, 8},
                    TailCase{2, 50, 4, 8}, TailCase{2, 49, 2, 8}, TailCase{2, 49, 4, 8},
                    TailCase{3, 50, 1, 8}, TailCase{3, 50, 4, 8}, TailCase{3, 49, 4, 8},
                    TailCase{3, 51, 8, 8}, TailCase{2, 51, 4, 12}, TailCase{3, 51, 4, 12},
                    TailCase{1, 51, 4, 12}, TailCase{2, 51, 2, 6}, TailCase{3, 53, 8, 32}));

TEST(Reading, AStreamOfUnknownLengthEndsAtItsMarkedBatch) {
  for (const char* last : {"last=1", "last=2", "last=3"}) {
    for (const char* tail : {"tail=0", "tail=1"}) {
      ServerProcess server({"batch=8", "rows=30", "variable=1", last, tail});
      Loader loader("train", {.runtime_dir = server.dir()});
      EXPECT_THROW(loader.steps_per_epoch(), Error);
      const bool drop = std::string(last) == "last=1";
      for (int epoch = 0; epoch < 3; ++epoch) {
        EXPECT_EQ(epoch_rows(loader), rows_between(0, drop ? 24 : 30)) << last << " " << tail;
      }
    }
  }
}

TEST(Reading, RaggedRowsHaveTheirLengthsForEveryBatchSizeAndRank) {
  for (const std::uint32_t size : {2U, 4U, 6U}) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ServerProcess server({"batch=4", "rows=42", "ragged=2", "last=3"});
      Loader loader(
          "train",
          {.rank = rank, .world_size = 2, .batch_size = size, .runtime_dir = server.dir()});
      for (int epoch = 0; epoch < 2; ++epoch) {
        for (const Batch& batch : loader.epoch()) {
          const auto rows = checked_rows(batch);
          const auto tokens = batch.ragged<std::int32_t>("tokens");
          const auto points = batch.ragged<float>("points");
          ASSERT_EQ(tokens.size(), rows.size());
          EXPECT_EQ(points.inner_shape(), (std::vector<std::size_t>{2}));
          for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(tokens[i].size(), made_token_count(rows[i]));
            for (std::uint32_t k = 0; k < tokens[i].size(); ++k) {
              EXPECT_EQ(tokens[i][k], made_token(rows[i], k));
            }
            ASSERT_EQ(points[i].size(), 2 * made_token_count(rows[i]));
            for (std::uint32_t k = 0; k < points[i].size(); ++k) {
              EXPECT_EQ(points[i][k], static_cast<float>(made_token(rows[i], k)) / 2);
            }
          }
        }
      }
    }
  }
}

TEST(Reading, UnderBatchEchoABatchIsRepeatedWithItsNextUse) {
  ServerProcess server({"batch=4", "rows=24", "slots=2", "batch_echo=1"});
  Loader loader("train", {.runtime_dir = server.dir()});
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::uint64_t step = 0;
    for (const Batch& batch : loader.epoch()) {
      const std::uint64_t source = step / 2 * 2 * 4;
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(batch.tensor<std::int64_t>("label")[i], made_label(batch.epoch(), source + i));
        EXPECT_EQ(batch.uses()[i], step % 2);
      }
      EXPECT_EQ(batch.fresh(), step % 2 == 0 ? 4U : 0U);
      ++step;
    }
    EXPECT_EQ(step, 6U);
  }
  EXPECT_THROW(Loader("train", {.batch_size = 8, .runtime_dir = server.dir()}), Error);
}

}  // namespace
}  // namespace echoline::test
