// Options that do not fit the stream or the device.
#include <gmock/gmock.h>

#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

class DeviceOptionsTest : public FakeGpuTest {};

TEST_F(DeviceOptionsTest, OptionsThatDoNotFitAreRefusedByName) {
  ServerProcess server({"batch=4", "rows=40", "ragged=1"});
  const auto refusal = [&](const DeviceOptions& options) {
    const GpuTrainer trainer(server, options);
    EXPECT_EQ(trainer.status(), ECHOLINE_INVALID_ARGUMENT);
    return trainer.error();
  };
  EXPECT_THAT(refusal({.depth = 1}), HasSubstr("depth must be 2 to 64"));
  EXPECT_THAT(refusal({.factor = 2000}), HasSubstr("factor"));
  EXPECT_THAT(refusal({.fields = {cuda_field("picture")}}), HasSubstr("'picture': the stream has"));
  EXPECT_THAT(refusal({.fields = {cuda_field("label"), cuda_field("label")}}), HasSubstr("twice"));
  echoline_cuda_field field = cuda_field("label");
  field.dtype = ECHOLINE_FLOAT32;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("[height, width, channels]"));
  field = cuda_field("image");
  field.dtype = ECHOLINE_INT64;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("dtype must be"));
  field = cuda_field("image");
  field.padded = 1;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("only a ragged field"));
  field = cuda_field("tokens");
  field.padded = 1;
  field.fill = 3e9;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("is no int32"));
  field.fill = 0.5;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("is no int32"));
  field = cuda_field("image");
  field.layout = ECHOLINE_LAYOUT_CHW;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("channels come first only"));
}

TEST_F(DeviceOptionsTest, CallsThatLackSomethingSayWhatAndChangeNothing) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  echoline_cuda_batch* batch = nullptr;
  ASSERT_EQ(echoline_cuda_next(trainer.handle(), stream(), 20'000, &batch), ECHOLINE_OK);
  echoline_cuda_tensor tensor{};
  EXPECT_EQ(echoline_cuda_batch_get_tensor(batch, 0, &tensor), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_STREQ(echoline_last_error(), "a batch or a structure with a size is missing");
  tensor.size = sizeof tensor;
  tensor.rank = 77;
  EXPECT_EQ(echoline_cuda_batch_get_tensor(nullptr, 0, &tensor), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_EQ(echoline_cuda_batch_get_tensor(batch, 2, &tensor), ECHOLINE_NOT_FOUND);
  EXPECT_STREQ(echoline_last_error(), "the stream has 2 fields, no number 2");
  EXPECT_EQ(echoline_cuda_batch_find_tensor(batch, "picture", &tensor), ECHOLINE_NOT_FOUND);
  EXPECT_STREQ(echoline_last_error(), "the stream has no field 'picture', but: image label");
  EXPECT_EQ(tensor.rank, 77U);
  EXPECT_EQ(echoline_cuda_next(trainer.handle(), stream(), 0, nullptr), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_STREQ(echoline_last_error(), "a pointer that is needed is NULL");
  EXPECT_EQ(echoline_cuda_batch_wait(nullptr, stream()), ECHOLINE_INVALID_ARGUMENT);
  echoline_cuda_release(batch, stream());
}

}  // namespace
}  // namespace echoline::cuda_test
