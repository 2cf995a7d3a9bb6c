// What the control service works on; everything outlives it and may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "engine/api/engine.h"
#include "serve/process/kept_streams.h"

namespace echoline::serve {

struct ControlContext {
  engine::Engine* engine = nullptr;
  KeptStreams* kept = nullptr;
  std::function<std::size_t()> connections;  // to the door
  const std::atomic<bool>* draining = nullptr;
  const std::atomic<bool>* started = nullptr;  // with the streams it begins with; null: it is
};

}  // namespace echoline::serve
