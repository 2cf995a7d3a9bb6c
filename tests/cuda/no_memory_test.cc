// The copier's thread finds no host memory: an error at every allocation, without a hang, and
// nothing stays allocated.
#include <gmock/gmock.h>

#include <chrono>

#include "cuda/allocations.h"
#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

class NoMemory : public GpuTest {};

TEST_F(NoMemory, OfTheCopyThreadIsAnErrorWhereverItIsMissed) {
  if (fake_ != nullptr) fake_->set_delay(0, 2000, 6);
  int failed = 0;
  for (int nth = 0; nth < 40; ++nth) {
    test::ServerProcess server({"batch=4", "rows=40", "slots=3"});
    const auto begin = std::chrono::steady_clock::now();
    {
      GpuTrainer trainer(server, {});
      ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
      fail_allocation(nth);
      GpuBatch batch;
      for (int step = 0; step < 20; ++step) {
        const int status = trainer.next(stream(), batch);
        if (status == ECHOLINE_OK) batch.check_on_stream(fake_, 0);
        if (status == ECHOLINE_OK || status == ECHOLINE_END_OF_EPOCH) continue;
        EXPECT_EQ(status, ECHOLINE_RESOURCE_EXHAUSTED) << echoline_last_error();
        ++failed;
        break;
      }
      fail_allocation(-1);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4)) << nth;
  }
  EXPECT_GT(failed, 30);
}

}  // namespace
}  // namespace echoline::cuda_test
