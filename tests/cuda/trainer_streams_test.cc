// The streams that a trainer names: which are refused, and captures of CUDA graphs on others.
#include <gmock/gmock.h>

#include <utility>

#include "cuda/fake_driver/codes.h"
#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

class TrainerStreams : public FakeGpuTest {};

TEST_F(TrainerStreams, AStreamThatCannotTakeBatchesIsRefusedAndTheNextCallIsFine) {
  fake_->set_devices(2);
  std::shared_ptr<const client::cuda::Device> other_device;
  ASSERT_TRUE(client::cuda::Device::open(1, other_device).ok());
  client::cuda::Stream elsewhere;
  ASSERT_TRUE(client::cuda::make_stream(other_device, elsewhere).ok());
  const client::cuda::Stream captured = another_stream();
  fake_->set_capture(captured.get(), 1);
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  const std::pair<client::cuda::StreamHandle, const char*> cases[] = {
      {captured.get(), "CUDA graph"},
      {elsewhere.get(), "another device"},
      {client::cuda::kStreamPerThread, "name a stream of your own"}};
  GpuBatch batch;
  for (const auto& [refused, why] : cases) {
    EXPECT_EQ(trainer.next(refused, batch), ECHOLINE_INVALID_ARGUMENT) << why;
    EXPECT_THAT(echoline_last_error(), HasSubstr(why));
  }
  EXPECT_EQ(trainer.take(stream(), 20), ECHOLINE_OK);
  fake_->set_capture(captured.get(), 0);
}

TEST_F(TrainerStreams, AnErrorOfTheCallersStreamIsTheCallersAndTheNextCallIsFine) {
  constexpr Code kImplicit = 906;
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  GpuBatch batch;
  for (const Code code : {Code{kInvalidHandle}, kImplicit}) {
    fake_->fail("cuStreamIsCapturing", code, 1, 0);
    EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_INVALID_ARGUMENT) << code;
  }
  EXPECT_EQ(trainer.take(stream(), 20), ECHOLINE_OK);
}

TEST_F(TrainerStreams, ACaptureElsewhereIsNotDisturbedByThreadsNorByTheLastBatch) {
  const client::cuda::Stream captured = another_stream();
  ServerProcess server({"batch=4", "rows=40"});
  GpuBatch batch;
  {
    GpuTrainer trainer(server, {});
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    fake_->set_capture(captured.get(), 1);
    EXPECT_EQ(trainer.take(stream(), 30), ECHOLINE_OK);
    // At the end of an epoch there is no batch; the next call gives one.
    while (trainer.next(stream(), batch) == ECHOLINE_END_OF_EPOCH) {
    }
  }
  EXPECT_GT(fake_->count().device_allocations, 0U) << "the batch keeps its buffer";
  batch.release();
  EXPECT_TRUE(comes_true([&] { return fake_->count().device_allocations == 0; }));
  fake_->set_capture(captured.get(), 0);
}

}  // namespace
}  // namespace echoline::cuda_test
