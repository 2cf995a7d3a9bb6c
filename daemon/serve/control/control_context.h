// The parts of the daemon that the control service works on. They outlive it, and any thread may
// use them.
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
  std::function<std::size_t()> connections;  // of the door
  const std::atomic<bool>* draining = nullptr;
  const std::atomic<bool>* started = nullptr;  // its first streams exist; null: always true
  bool creates_python = true;  // calls may create streams that run code as the daemon's user
};

}  // namespace echoline::serve
