// The C++ header echoline_cuda.hpp: ranges over epochs, batches, states, options.
#include <gmock/gmock.h>

#include "client/made_stream.h"
#include "cuda/gpu_trainer.h"
#include "echoline/echoline_cuda.hpp"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;

class Ranges : public GpuTest {
 protected:
  static LoaderOptions at(const ServerProcess& server) { return {.runtime_dir = server.dir()}; }

  // Waits for the stream.
  std::vector<std::uint8_t> image(const cuda::Batch& batch,
                                  client::cuda::StreamHandle stream) const {
    const echoline_cuda_tensor tensor = batch.tensor("image");
    std::vector<std::uint8_t> bytes(tensor.bytes);
    const client::cuda::CurrentContext current(*device());
    const MoreDriver& more = *MoreDriver::find();
    EXPECT_EQ(more.copy_to_host(bytes.data(), tensor.data, bytes.size(), stream), 0);
    EXPECT_EQ(more.stream_synchronize(stream), 0);
    return bytes;
  }

  static std::vector<std::uint8_t> made(const cuda::Batch& batch) {
    std::vector<std::uint8_t> bytes;
    for (std::uint64_t row = 0; row < batch.rows(); ++row) {
      for (std::uint32_t i = 0; i < test::kImageBytes; ++i) {
        bytes.push_back(test::made_pixel(batch.epoch(), batch.info().row + row, i));
      }
    }
    return bytes;
  }
};

TEST_F(Ranges, ARangeIsAnEpochAndABreakAbandonsIt) {
  ServerProcess server({"batch=4", "rows=40", "slots=8"});
  cuda::Loader loader("train", {.echo = {2, 3}}, at(server));
  EXPECT_EQ(loader.steps_per_epoch(), 20U);
  EXPECT_EQ(loader.loader().fields().size(), 2U);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    int given = 0;
    for (const cuda::Batch& batch : loader.epoch(stream())) {
      EXPECT_EQ(batch.epoch(), epoch);
      EXPECT_EQ(batch.device(), 0);
      EXPECT_EQ(image(batch, stream()), made(batch));
      EXPECT_EQ(batch.uses()[0] / 2, test::made_use(batch.info().row));
      if (++given == 7 && epoch == 1) break;
    }
    EXPECT_EQ(given, epoch == 1 ? 7 : 20);
  }
  EXPECT_EQ(loader.stats().uses, 47U);
}

TEST_F(Ranges, ABatchThatEndsGivesItsBufferBackAndOneThatIsKeptDoesNot) {
  ServerProcess server({"batch=4", "rows=40", "slots=8"});
  cuda::Loader loader("train", {.depth = 2}, at(server));
  std::optional<cuda::Batch> first = loader.next(stream());
  cuda::Batch second = std::move(*loader.next(stream()));
  EXPECT_THROW(loader.next(stream()), LeaseHeld);
  second.release(stream());
  EXPECT_FALSE(second);
  first.reset();
  EXPECT_EQ(loader.next(stream())->step(), 2U);
}

TEST_F(Ranges, AnotherStreamIsMadeToWait) {
  if (fake_ != nullptr) fake_->set_delay(5000, 8000, 1);
  ServerProcess server({"batch=4", "rows=40", "slots=8"});
  client::cuda::Stream other;
  ASSERT_TRUE(client::cuda::make_stream(device(), other).ok());
  cuda::Loader loader("train", {}, at(server));
  for (const cuda::Batch& batch : loader.epoch(stream())) {
    batch.wait(other.get());
    EXPECT_EQ(image(batch, other.get()), made(batch));
  }
}

TEST_F(Ranges, AStateGoesOnAndWrongWishesAreRefused) {
  ServerProcess server({"batch=4", "rows=40", "slots=64", "consumers=2"});
  Loader keeper("train", {.job = "keeper", .runtime_dir = server.dir()});
  std::string state;
  {
    cuda::Loader loader("train", {.echo = {2, 3}}, at(server));
    for (int i = 0; i < 5; ++i) loader.next(stream());
    state = loader.state();
  }
  LoaderOptions resumed = at(server);
  resumed.state = state;
  cuda::Loader loader("train", {.echo = {2, 3}}, resumed);
  EXPECT_EQ(loader.state(), state);
  for (const cuda::Options& wrong :
       std::vector<cuda::Options>{{.depth = 1},
                                  {.device = 1000},
                                  {.fields = {{.name = "picture"}}},
                                  {.fields = {{.name = "image",
                                             .dtype = ECHOLINE_FLOAT32,
                                             .mean = std::vector<float>(9)}}},
                                  {.fields = {{.name = "image", .pad = 0}}}}) {
    try {
      cuda::Loader("train", wrong, {.job = "other", .runtime_dir = server.dir()});
      ADD_FAILURE() << "was opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ECHOLINE_INVALID_ARGUMENT) << error.what();
    }
  }
}

}  // namespace
}  // namespace echoline::cuda_test
