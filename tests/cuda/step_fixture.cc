#include "cuda/step_fixture.h"

namespace echoline::cuda_test {

void StepTest::SetUp() {
  FakeGpuTest::SetUp();
  if (!IsSkipped()) context_.emplace(*device());
}

void StepTest::TearDown() {
  if (pipeline_ != nullptr) {
    hold_copies(false);
    {
      const std::lock_guard lock(table().mutex);
      table().fail({ECHOLINE_CANCELLED, "the test has ended"});
      table().copier_runs = false;
    }
    client::cuda::run(finisher());
    EXPECT_TRUE(table().in_flight.empty());
  }
  pipeline_.reset();
  host_.reset();
  server_.reset();
  context_.reset();
  FakeGpuTest::TearDown();
}

void StepTest::open(const std::vector<std::string>& server, const client::cuda::Options& options) {
  server_ = std::make_unique<test::ServerProcess>(server);
  client::LoaderOptions host_options;
  host_options.attach.stream = "train";
  host_options.runtime_dir = server_->dir();
  host_ = std::make_unique<client::Loader>(host_options);
  ASSERT_TRUE(host_->await_attached(20'000).ok());
  const client::Error e = client::cuda::CopyPipeline::make(*host_, options, device(), pipeline_);
  ASSERT_TRUE(e.ok()) << e.text();
  table().copier_runs = table().finisher_runs = true;
}

void StepTest::hold_copies(bool held) {
  fake_->set_stuck(pipeline_->resources.streams.copy.get(), held ? 1 : 0);
}

void StepTest::copy_batches(int count) {
  for (int tries = 0; count > 0 && tries < 400; ++tries) {
    if (copier().do_work()) --count;
  }
  ASSERT_EQ(count, 0);
}

int StepTest::take_now(std::unique_ptr<client::cuda::DeviceBatch>& batch) {
  return trainer().next(stream(), 0, batch).code();
}

}  // namespace echoline::cuda_test
