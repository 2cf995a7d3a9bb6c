// Links the daemon's main with the engine that prepares nothing.
#include "serve/memory_engine.h"

namespace echoline::engine {

Result<std::unique_ptr<Engine>> Engine::create(const v1::Daemon& daemon) {
  return std::unique_ptr<Engine>(std::make_unique<serve::MemoryEngine>(daemon.memory()));
}

}  // namespace echoline::engine
