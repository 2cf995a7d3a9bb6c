#include "cuda/agent.h"

#include <pthread.h>

#include "cuda/no_signals.h"

namespace echoline::client::cuda {

std::thread start_thread(const char* name, Agent& agent, std::shared_ptr<const Device> device,
                         std::shared_ptr<void> owner) {
  const NoSignals no_signals;  // the new thread inherits the mask
  return std::thread([name, &agent, device = std::move(device), owner = std::move(owner)] {
    pthread_setname_np(pthread_self(), name);
    // Current for the whole life of the thread: the steps need not set it.
    const CurrentContext current(*device);
    run(agent);
  });
}

}  // namespace echoline::client::cuda
