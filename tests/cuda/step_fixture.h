// A device loader without its threads: a test drives the steps of its parts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/copy_pipeline.h"
#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {

// Needs the fake driver. One thread calls everything.
class StepTest : public FakeGpuTest {
 protected:
  void SetUp() override;
  // Ends the copies that are in flight as the threads would.
  void TearDown() override;

  // Attaches to a ring_server with these arguments.
  void open(const std::vector<std::string>& server, const client::cuda::Options& options);

  client::cuda::BatchCopier& copier() { return pipeline_->copier; }
  client::cuda::CopyFinisher& finisher() { return pipeline_->finisher; }
  client::cuda::TrainerCalls& trainer() { return pipeline_->trainer; }
  client::cuda::SlotTable& table() { return pipeline_->table; }
  client::cuda::CopyPipeline& pipeline() { return *pipeline_; }
  client::Loader& host() { return *host_; }

  // While true, no copy on the device ends.
  void hold_copies(bool held);
  // Puts `count` copies on the stream, one a step; the ring may need a moment for each batch.
  void copy_batches(int count);
  // Takes the trainer's next use if there is one now, else the reason.
  int take_now(std::unique_ptr<client::cuda::DeviceBatch>& batch);

 private:
  std::unique_ptr<test::ServerProcess> server_;
  std::unique_ptr<client::Loader> host_;
  std::unique_ptr<client::cuda::CopyPipeline> pipeline_;
  std::optional<client::cuda::CurrentContext> context_;
};

}  // namespace echoline::cuda_test
