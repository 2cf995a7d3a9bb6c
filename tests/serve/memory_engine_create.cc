// Gives the daemon's main() the engine of these tests.
#include "serve/memory_engine.h"

namespace echoline::engine {

Result<std::unique_ptr<Engine>> Engine::create(const v1::Daemon& daemon) {
  return std::unique_ptr<Engine>(std::make_unique<serve::MemoryEngine>(daemon.memory()));
}

}  // namespace echoline::engine
