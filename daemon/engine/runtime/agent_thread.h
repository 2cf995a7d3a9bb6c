// The thread of an agent.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "engine/runtime/agent.h"

namespace echoline::engine {

// start() and stop() are called by one thread at a time, never by the agent itself.
class AgentThread {
 public:
  // `name` as ps and top show it, at most 15 characters. The agent outlives this object.
  AgentThread(Agent& agent, std::string name) : agent_(agent), name_(std::move(name)) {}
  ~AgentThread() { stop(); }
  AgentThread(const AgentThread&) = delete;
  AgentThread& operator=(const AgentThread&) = delete;

  void start();
  // Returns when the agent's last step has ended. Does nothing the second time.
  void stop();
  bool is_running() const { return thread_.joinable(); }

 private:
  Agent& agent_;
  const std::string name_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace echoline::engine
