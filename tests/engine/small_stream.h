// A stream of 40 records in a folder of its own, for tests that drive one without an engine.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/open/open_stream.h"
#include "engine/runtime/memory_budget.h"
#include "engine/runtime/worker_pool.h"
#include "engine/stream/stream.h"

namespace echoline::engine {

// One thread.
class SmallStream {
 public:
  static constexpr std::uint64_t kRecords = 40;
  static constexpr std::uint32_t kBatchRows = 4;

  // `steps` and `publish` go into the pipeline's YAML.
  explicit SmallStream(const std::string& steps = "", const std::string& publish = "slots: 4",
                       std::uint64_t budget_bytes = 64 << 20);
  ~SmallStream();

  OpenedStream open();
  // With its first pass.
  std::unique_ptr<Stream> stream(ReattachBarrier barrier = ReattachBarrier({}, 0));
  std::shared_ptr<Pass> pass(const std::shared_ptr<StreamCore>& core, plan::Position start = {});
  // Does what the stream asks for, as its driver would; returns its notices.
  std::vector<TrainerNotice> do_work(Stream& stream, std::uint64_t now_ns);

  MemoryBudget budget;
  WorkerPool pool{2};

 private:
  const std::filesystem::path folder_;
  v1::Stream definition_;
  std::vector<std::shared_ptr<StreamCore>> cores_;  // of open()
};

// A request of this process to attach; `answer` receives the reply.
AttachCall attach_call(std::uint64_t connection, const std::string& job, Result<Attachment>* answer,
                       std::uint32_t rank = 0, std::uint32_t world_size = 1);

}  // namespace echoline::engine
