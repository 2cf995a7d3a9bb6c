// Device echo, mirroring, conversion and states, compared with what the CPU computes.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <ostream>

#include "client/made_stream.h"
#include "cuda/gpu_trainer.h"
#include "cuda/kernels.h"
#include "echoline/shm/sample_random.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

constexpr std::uint32_t kHeight = 5, kWidth = 7, kChannels = 3;

struct Given {
  std::uint32_t epoch;
  std::uint64_t row;
  std::uint32_t use;
  std::vector<std::uint8_t> image;
  bool operator==(const Given&) const = default;
};

void PrintTo(const Given& given, std::ostream* out) {
  *out << given.epoch << ":" << given.row << " use " << given.use << " "
       << std::accumulate(given.image.begin(), given.image.begin() + 3, 0);
}

class DeviceEchoing : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !client::cuda::Kernels::built()) GTEST_SKIP() << "no kernels in this build";
    if (fake_ != nullptr) fake_->set_delay(0, 200, 5);
  }

  std::vector<Given> take(GpuTrainer& trainer, std::size_t uses) {
    std::vector<Given> all;
    GpuBatch batch;
    while (all.size() < uses) {
      const int status = trainer.next(stream(), batch);
      if (status == ECHOLINE_END_OF_EPOCH) continue;
      EXPECT_EQ(status, ECHOLINE_OK) << echoline_last_error();
      if (status != ECHOLINE_OK) break;
      const echoline_batch_info info = batch.info();
      // test::made_use is the stream's own use of that row.
      const std::uint32_t use = batch.uses()[0] - test::made_use(info.row) * factor_;
      all.push_back({info.epoch, info.row, use, batch.bytes("image")});
    }
    return all;
  }

  std::uint32_t factor_ = 1;
};

bool mirrored(std::uint64_t seed, std::uint32_t epoch, std::uint64_t row, std::uint32_t use) {
  SampleRandom random(
      {seed, test::made_sample_id(epoch, row), epoch, static_cast<std::uint16_t>(use)}, 255);
  return random.next_u32() >> 31 != 0;
}

// The pixels of four rows, beginning with `row`, as the device must have them.
std::vector<std::uint8_t> images(std::uint32_t epoch, std::uint64_t row, std::uint32_t use,
                                 std::uint32_t factor, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t r = row; r < row + 4; ++r) {
    const bool mirror = mirrored(seed, epoch, r, test::made_use(r) * factor + use);
    for (std::uint32_t y = 0; y < kHeight; ++y) {
      for (std::uint32_t x = 0; x < kWidth; ++x) {
        const std::uint32_t from = mirror ? kWidth - 1 - x : x;
        for (std::uint32_t c = 0; c < kChannels; ++c) {
          bytes.push_back(test::made_pixel(epoch, r, (y * kWidth + from) * kChannels + c));
        }
      }
    }
  }
  return bytes;
}

TEST_F(DeviceEchoing, GivesEachBatchThatOftenForOneCopyOverTheLink) {
  ServerProcess server({"batch=4", "rows=40", "slots=3"});
  factor_ = 3;
  GpuTrainer trainer(server, {.factor = 3, .window = 5});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  const std::vector<Given> given = take(trainer, 60);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> uses;
  for (const Given& one : given) {
    const std::uint32_t use = uses[{one.epoch, one.row}]++;
    EXPECT_EQ(one.use, use);
  }
  EXPECT_EQ(uses.size(), 20U);
  const echoline_cuda_stats stats = trainer.stats();
  EXPECT_EQ(stats.uses, 60U);
  EXPECT_LE(stats.batches, 20U + 7);  // with copies of the next epoch, one in every buffer
  EXPECT_EQ(stats.copied_bytes, stats.batches * 4 * (test::kImageBytes + 8));
}

TEST_F(DeviceEchoing, MirrorsEachUseAsTheSeedSaysAndInEveryRunAlike) {
  echoline_cuda_field field = cuda_field("image");
  field.flip = 1;
  std::vector<Given> first;
  factor_ = 2;
  for (int run = 0; run < 2; ++run) {
    ServerProcess server({"batch=4", "rows=40", "slots=3", "seed=7"});
    GpuTrainer trainer(server, {.factor = 2, .window = 4, .fields = {field}});
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    const std::vector<Given> given = take(trainer, 40);
    for (const Given& one : given) {
      EXPECT_EQ(one.image, images(one.epoch, one.row, one.use, 2, 7)) << one.row;
    }
    if (run == 0) first = given;
    EXPECT_EQ(given, first);
  }
}

TEST_F(DeviceEchoing, AUseThatWouldMirrorWhatTheTrainerHoldsWaitsForIt) {
  echoline_cuda_field field = cuda_field("image");
  field.flip = 1;
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {.factor = 2, .window = 1, .fields = {field}});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch first, second;
  ASSERT_EQ(trainer.next(stream(), first), ECHOLINE_OK);
  EXPECT_EQ(trainer.next(stream(), second), ECHOLINE_LEASE_HELD);
  EXPECT_THAT(echoline_last_error(), HasSubstr("raise the window"));
  first.release();
  EXPECT_EQ(trainer.next(stream(), second), ECHOLINE_OK);
}

TEST_F(DeviceEchoing, AStateGoesOnWithExactlyTheNextUse) {
  echoline_cuda_field field = cuda_field("image");
  field.flip = 1;
  factor_ = 3;
  const DeviceOptions options{.factor = 3, .window = 6, .fields = {field}};
  ServerProcess whole({"batch=4", "rows=40", "slots=3"});
  GpuTrainer reference(whole, options);
  const std::vector<Given> all = take(reference, 70);
  for (const std::size_t taken : {0, 1, 2, 7, 14, 28, 29, 30, 31, 45}) {
    ServerProcess server({"batch=4", "rows=40", "slots=3"});
    std::string state;
    {
      GpuTrainer trainer(server, options);
      ASSERT_EQ(take(trainer, taken).size(), taken);
      state = trainer.state();
    }
    server.kill();
    server.start_again();
    DeviceOptions resumed = options;
    resumed.state = state;
    GpuTrainer trainer(server, resumed);
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error() << state;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(taken);
    EXPECT_EQ(take(trainer, 20), std::vector(begin, begin + 20)) << taken << " " << state;
  }
}

TEST_F(DeviceEchoing, AStateOfAnotherEchoIsRefusedAndSoIsAReadingByTheCpu) {
  ServerProcess server({"batch=4", "rows=40"});
  std::string state;
  {
    GpuTrainer trainer(server, {.factor = 2, .window = 3});
    take(trainer, 3);
    state = trainer.state();
  }
  EXPECT_THAT(state, HasSubstr("\"device_echo\":[2,3,"));
  server.kill();
  server.start_again();
  GpuTrainer other(server, {.factor = 3, .window = 3, .state = state});
  EXPECT_EQ(other.status(), ECHOLINE_FAILED_PRECONDITION);
  EXPECT_THAT(other.error(), HasSubstr("factor 2 and window 3"));
  EXPECT_THROW(other.loader().next(), Error);
}

TEST_F(DeviceEchoing, AStateWhosePlaceCannotBeIsRefused) {
  ServerProcess server({"batch=4", "rows=40"});
  std::string state;
  {
    GpuTrainer trainer(server, {.factor = 2, .window = 3});
    take(trainer, 3);
    state = trainer.state();
  }
  server.kill();
  server.start_again();
  const std::string place = "\"device_echo\":[2,3,";
  const std::size_t at = state.find(place) + place.size();
  // Two uses with two other batches between them: the second one is 5 steps after the first.
  const std::string last = std::string(state).replace(at, state.find(']', at) - at, "5");
  const std::string beyond = std::string(state).replace(at, state.find(']', at) - at, "6");
  const GpuTrainer refused(server, {.factor = 2, .window = 3, .state = beyond});
  EXPECT_EQ(refused.status(), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(refused.error(), HasSubstr("step 6"));
  GpuTrainer taken(server, {.factor = 2, .window = 3, .state = last});
  ASSERT_EQ(taken.status(), ECHOLINE_OK) << taken.error();
  factor_ = 2;
  EXPECT_EQ(take(taken, 1).front().use, 1U);
}

TEST_F(DeviceEchoing, AUseWhoseKernelFailedComesRightWhenItIsAskedForAgain) {
  if (fake_ == nullptr) GTEST_SKIP() << "needs the fake driver";
  echoline_cuda_field field = cuda_field("image");
  field.flip = 1;
  factor_ = 2;
  DeviceOptions options{.factor = 2, .window = 3, .fields = {field}};
  ServerProcess server({"batch=4", "rows=40", "seed=7"});
  {
    GpuTrainer trainer(server, options);
    ASSERT_EQ(take(trainer, 3).back().use, 0U);
    options.state = trainer.state();
  }
  server.kill();
  server.start_again();
  GpuTrainer trainer(server, options);
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error() << options.state;
  // Every buffer was prepared for its use 0; the next use is use 1 of the first one.
  const auto all_copied = [&] { return trainer.stats().batches == 3 + 2; };
  for (int i = 0; i < 500 && !all_copied(); ++i) usleep(10'000);
  ASSERT_TRUE(all_copied());
  fake_->fail("cuLaunchKernel", client::cuda::kOutOfMemory, 1, 0);
  GpuBatch batch;
  EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_RESOURCE_EXHAUSTED);
  for (const Given& one : take(trainer, 6)) {
    EXPECT_EQ(one.image, images(one.epoch, one.row, one.use, 2, 7)) << one.row << " " << one.use;
  }
}

TEST_F(DeviceEchoing, ABreakAbandonsTheEpochWithItsKeptBatches) {
  ServerProcess server({"batch=4", "rows=40", "slots=3"});
  factor_ = 2;
  for (const std::uint32_t depth :
       {2, 12}) {  // copies are in this epoch, or already in the next one
    GpuTrainer trainer(server, {.depth = depth, .factor = 2, .window = 3});
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    EXPECT_EQ(echoline_cuda_begin_epoch(trainer.handle()), ECHOLINE_OK);
    EXPECT_EQ(take(trainer, 5).back().epoch, 0U);
    EXPECT_EQ(echoline_cuda_begin_epoch(trainer.handle()), ECHOLINE_OK) << echoline_last_error();
    EXPECT_EQ(echoline_cuda_begin_epoch(trainer.handle()), ECHOLINE_OK);
    const std::vector<Given> next = take(trainer, 20);
    for (const Given& one : next) EXPECT_EQ(one.epoch, 1U);
    EXPECT_EQ(next.front().row, 0U);
    server.kill();
    server.start_again();
  }
}

TEST_F(DeviceEchoing, NormalisesAsTheFormulaSays) {
  echoline_cuda_field field = cuda_field("image");
  field.dtype = ECHOLINE_FLOAT32;
  field.layout = ECHOLINE_LAYOUT_CHW;
  const float mean[] = {0.485F, 0.456F, 0.406F}, deviation[] = {0.229F, 0.224F, 0.225F};
  std::copy(std::begin(mean), std::end(mean), field.mean);
  std::copy(std::begin(deviation), std::end(deviation), field.std);
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {.fields = {field}});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (int step = 0; step < 10; ++step) {
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    const echoline_cuda_tensor tensor = batch.tensor("image");
    EXPECT_EQ(std::vector(tensor.shape, tensor.shape + tensor.rank),
              (std::vector<std::uint64_t>{4, kChannels, kHeight, kWidth}));
    const std::vector<std::uint8_t> bytes = batch.bytes("image");
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t row = i / (kChannels * kHeight * kWidth);
      const std::size_t in_row = i % (kChannels * kHeight * kWidth);
      const std::size_t c = in_row / (kHeight * kWidth), pixel = in_row % (kHeight * kWidth);
      const double value = test::made_pixel(0, batch.info().row + row,
                                            static_cast<std::uint32_t>(pixel * kChannels + c));
      ASSERT_NEAR(values[i], (value / 255 - mean[c]) / deviation[c], 1e-6);
    }
  }
}

TEST_F(DeviceEchoing, PadsRaggedRowsWithTheFill) {
  echoline_cuda_field field = cuda_field("tokens");
  field.padded = 1;
  field.fill = -7;
  ServerProcess server({"batch=4", "rows=40", "ragged=1"});
  GpuTrainer trainer(server, {.fields = {field}});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (int step = 0; step < 10; ++step) {
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    std::vector<std::int32_t> expected;
    for (std::uint64_t row = batch.info().row; row < batch.info().row + 4; ++row) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        expected.push_back(i < test::made_token_count(row) ? test::made_token(row, i) : -7);
      }
    }
    const std::vector<std::uint8_t> bytes = batch.bytes("tokens");
    ASSERT_EQ(bytes.size(), expected.size() * sizeof(std::int32_t));
    EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
  }
}

}  // namespace
}  // namespace echoline::cuda_test
