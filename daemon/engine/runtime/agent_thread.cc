#include "engine/runtime/agent_thread.h"

#include "engine/runtime/worker_pool.h"

namespace echoline::engine {

void AgentThread::start() {
  thread_ = std::thread([this] {
    name_thread(name_.c_str());
    while (!stopping_.load()) {
      // do_work() that returned true may have more to do, so it runs again without a pause.
      if (!agent_.do_work()) agent_.wait();
    }
  });
}

void AgentThread::stop() {
  // Never started, or stopped before.
  if (!thread_.joinable()) return;
  // The flag before the wake-up: a wait that this ends must not begin again.
  stopping_.store(true);
  agent_.wake();
  thread_.join();
}

}  // namespace echoline::engine
