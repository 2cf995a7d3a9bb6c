// A loop of the engine, written as steps. A thread runs them over and over (agent_thread.h); tests
// and the simulation call them directly, so that every interleaving can be reproduced.
#pragma once

namespace echoline::engine {

// do_work() and wait() are called by one thread at a time; wake() by any thread.
class Agent {
 public:
  virtual ~Agent() = default;

  // Does a bounded amount of work. False: there is nothing to do now.
  virtual bool do_work() = 0;
  // Blocks until there may be work again, wake() was called, or a short time has passed. Called
  // after a do_work() that returned false; work that arrived since then must end the wait.
  virtual void wait() = 0;
  virtual void wake() = 0;
};

}  // namespace echoline::engine
