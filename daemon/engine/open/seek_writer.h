// Writes new seek indexes to the disk, so that workers never wait for it.
#pragma once

#include <chrono>

#include "base/mutex.h"
#include "engine/runtime/agent.h"
#include "engine/runtime/agent_thread.h"
#include "seek/indexes.h"

namespace echoline::engine {

// Its thread runs from the construction to the end. The indexes outlive it.
class SeekWriter final : private Agent {
 public:
  explicit SeekWriter(seek::Indexes& indexes);

 private:
  bool do_work() override;
  void wait() override;
  void wake() override;
  void note_new();

  seek::Indexes& indexes_;
  Mutex mutex_;
  CondVar changed_;
  bool has_new_ ECHOLINE_GUARDED_BY(mutex_) = false;
  bool woken_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point due_ ECHOLINE_GUARDED_BY(mutex_);
  AgentThread thread_{*this, "seek-index"};
};

}  // namespace echoline::engine
