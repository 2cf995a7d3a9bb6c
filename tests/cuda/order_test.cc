// The order of accesses: with any delays, the bytes on the device are those of the ring.
#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "client/made_stream.h"
#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;

std::vector<std::uint64_t> rows_of(const echoline_batch_info& info) {
  std::vector<std::uint64_t> rows(info.rows);
  std::iota(rows.begin(), rows.end(), info.row);
  return rows;
}

class Order : public GpuTest {
 protected:
  void delay(unsigned min_us, unsigned max_us) const {
    if (fake_ != nullptr) fake_->set_delay(min_us, max_us, 1);
  }
};

TEST_F(Order, EpochsComeWholeInOrderAndWithTheBytesOfTheRing) {
  ServerProcess server({"batch=4", "rows=40", "slots=3"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    for (std::uint64_t step = 0; step < 10; ++step) {
      ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK) << echoline_last_error();
      const echoline_batch_info info = batch.info();
      EXPECT_EQ(info.epoch, epoch);
      EXPECT_EQ(info.step, step);
      EXPECT_EQ((info.flags & ECHOLINE_BATCH_LAST) != 0, step == 9);
      EXPECT_EQ(batch.rows(), rows_of(info));
      EXPECT_EQ(batch.sample_ids()[1], test::made_sample_id(epoch, info.row + 1));
      EXPECT_EQ(batch.uses()[2], test::made_use(info.row + 2));
      batch.check_on_stream(fake_, 0);
    }
    EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_END_OF_EPOCH);
  }
}

TEST_F(Order, ASlotIsNotGivenBackBeforeItsCopyHasEnded) {
  // The writer is fast and has two slots; copies are slow and read late.
  delay(200, 3000);
  ServerProcess server({"batch=4", "rows=40", "slots=2"});
  GpuTrainer trainer(server, {.depth = 6});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (int i = 0; i < 120; ++i) {
    if (trainer.next(stream(), batch) == ECHOLINE_END_OF_EPOCH) continue;
    batch.check_on_stream(fake_, 0);
  }
}

TEST_F(Order, ABufferIsNotWrittenBeforeTheTrainersStreamHasPassedIt) {
  delay(0, 200);
  ServerProcess server({"batch=4", "rows=40", "slots=4"});
  GpuTrainer trainer(server, {.depth = 2});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (unsigned i = 0; i < 120; ++i) {
    // The host runs far ahead of the stream, which still has to read batches that were released.
    if (trainer.next(stream(), batch) == ECHOLINE_END_OF_EPOCH) continue;
    batch.check_on_stream(fake_, i * 37 % 2000);
  }
}

TEST_F(Order, UsesOnSeveralStreamsAreAllPassedFirst) {
  delay(0, 200);
  client::cuda::Stream other;
  ASSERT_TRUE(client::cuda::make_stream(device(), other).ok());
  ServerProcess server({"batch=4", "rows=40", "slots=4"});
  GpuTrainer trainer(server, {.depth = 2, .factor = 2, .window = 3});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (unsigned i = 0; i < 80; ++i) {
    if (trainer.next(i % 2 == 0 ? stream() : other.get(), batch) == ECHOLINE_END_OF_EPOCH) continue;
    batch.check_on_stream(fake_, i % 2 == 0 ? 2000 : 10);
  }
}

TEST_F(Order, ManyBatchesUnderRandomDelays) {
#if defined(ECHOLINE_SANITIZE_THREAD) || defined(ECHOLINE_SANITIZE_ADDRESS)
  const std::uint64_t kBatches = 5'000;
#else
  const std::uint64_t kBatches = fake_ != nullptr ? 20'000 : 100'000;
#endif
  delay(0, 20);
  ServerProcess server({"batch=4", "rows=4000", "slots=4"});
  GpuTrainer trainer(server, {.depth = 4});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (std::uint64_t given = 0; given < kBatches;) {
    if (trainer.next(stream(), batch) == ECHOLINE_END_OF_EPOCH) continue;
    ++given;
    if (fake_ != nullptr || given % 100 == 0)
      batch.check_on_stream(fake_, given % 64 == 0 ? 50 : 0);
  }
  EXPECT_GE(trainer.stats().batches + 4, kBatches);  // the last copies may not have ended
  EXPECT_EQ(trainer.stats().uses, kBatches);
}

TEST_F(Order, TwoTrainersOnOneDeviceAndOneOnAnotherDisturbEachOtherNot) {
  delay(0, 300);
  if (fake_ != nullptr) fake_->set_devices(2);
  ServerProcess server({"batch=4", "rows=40", "slots=4", "consumers=3"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, ordinal = i / 2] {
      std::shared_ptr<const client::cuda::Device> own;
      if (!client::cuda::Device::open(ordinal, own).ok()) return;  // the machine has one device
      client::cuda::Stream mine;
      ASSERT_TRUE(client::cuda::make_stream(own, mine).ok());
      GpuTrainer trainer(server, {.device = ordinal});
      ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
      GpuBatch batch;
      for (int step = 0; step < 60; ++step) {
        if (trainer.next(mine.get(), batch) == ECHOLINE_END_OF_EPOCH) continue;
        const client::cuda::CurrentContext current(*own);
        batch.check_on_stream(fake_, 100);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Order, ABatchThatTheTrainerKeepsStaysAsItIs) {
  ServerProcess server({"batch=4", "rows=40", "slots=4"});
  GpuTrainer trainer(server, {.depth = 3});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch kept;
  ASSERT_EQ(trainer.next(stream(), kept), ECHOLINE_OK);
  GpuBatch batch;
  for (int i = 0; i < 25; ++i) trainer.next(stream(), batch);
  EXPECT_EQ(kept.rows(), rows_of(kept.info()));
}

TEST_F(Order, AShortLastBatchAndAPaddedOneComeAsTheCpuSeesThem) {
  for (const char* last : {"last=2", "last=3"}) {
    ServerProcess server({"batch=8", "rows=21", "slots=3", "consumers=2", last});
    GpuTrainer trainer(server, {.world_size = 1});
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    Loader host("train", {.job = "host", .runtime_dir = server.dir()});
    GpuBatch batch;
    for (int step = 0; step < 9; ++step) {
      const std::optional<Batch> seen = host.next();
      const int status = trainer.next(stream(), batch);
      ASSERT_EQ(status == ECHOLINE_OK, seen.has_value());
      if (!seen) continue;
      EXPECT_EQ(batch.info().valid_rows, seen->valid_rows());
      const auto pixels = seen->tensor<std::uint8_t>("image");
      EXPECT_EQ(batch.bytes("image"), std::vector<std::uint8_t>(pixels.begin(), pixels.end()));
    }
  }
}

TEST_F(Order, RaggedFieldsComeAsValuesAndOffsets) {
  ServerProcess server({"batch=4", "rows=40", "slots=3", "ragged=1"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (int step = 0; step < 10; ++step) {
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    std::vector<std::int32_t> expected;
    std::vector<std::uint64_t> offsets{0};
    for (const std::uint64_t row : rows_of(batch.info())) {
      for (std::uint32_t i = 0; i < test::made_token_count(row); ++i) {
        expected.push_back(test::made_token(row, i));
      }
      offsets.push_back(expected.size() * sizeof(std::int32_t));
    }
    const echoline_cuda_tensor tokens = batch.tensor("tokens");
    EXPECT_EQ(tokens.shape[0], expected.size());
    const std::vector<std::uint8_t> values = batch.bytes("tokens");
    ASSERT_EQ(values.size(), expected.size() * sizeof(std::int32_t));
    EXPECT_EQ(std::memcmp(values.data(), expected.data(), values.size()), 0);
    const std::vector<std::uint8_t> places = batch.bytes(tokens.offsets, offsets.size() * 8);
    EXPECT_EQ(std::memcmp(places.data(), offsets.data(), places.size()), 0);
  }
}

TEST_F(Order, UsesBehindTheLastCopyAreMeasuredToo) {
  if (fake_ == nullptr) GTEST_SKIP() << "needs the fake driver";
  ServerProcess server({"batch=4", "rows=40", "batches_max=1"});
  GpuTrainer trainer(server, {.factor = 150, .window = 1});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (int use = 0; use < 150; ++use) {
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    batch.check_on_stream(fake_, 500);
    if (use % 30 == 29) batch.bytes("label");  // the host waits for the stream
  }
  EXPECT_GE(trainer.stats().span_ns, 149 * 2 * 500'000U);
}

}  // namespace
}  // namespace echoline::cuda_test
