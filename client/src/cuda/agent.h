// The work of one library thread as an object with steps, so that a test can drive it without a
// thread.
#pragma once

#include <memory>
#include <thread>

#include "cuda/device.h"

namespace echoline::client::cuda {

// One thread calls both methods, with the device's context current. They do not throw.
class Agent {
 public:
  virtual ~Agent() = default;
  // One bounded step; each agent states how long it may wait inside. True if it did something.
  virtual bool do_work() = 0;
  // Sleeps until do_work() may have something to do. False if the agent has ended: it must not be
  // called again.
  virtual bool wait_for_work() = 0;
};

// Steps until the agent ends.
inline void run(Agent& agent) {
  while (agent.do_work() || agent.wait_for_work()) {
  }
}

// A thread that runs the agent. `owner` keeps the agent alive. The thread takes none of the
// trainer's signals. Throws what std::thread throws.
std::thread start_thread(const char* name, Agent& agent, std::shared_ptr<const Device> device,
                         std::shared_ptr<void> owner);

}  // namespace echoline::client::cuda
