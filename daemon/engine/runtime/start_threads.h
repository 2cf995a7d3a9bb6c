// Starts several threads, or none.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace echoline::engine {

// Appends `count` threads, which run body(0), body(1), ... Throws std::system_error if one of them
// cannot be started, after `stop`, which has to end and join those that have begun.
template <typename Body, typename Stop>
void start_threads(std::vector<std::thread>& threads, std::size_t count, const Body& body,
                   const Stop& stop) {
  threads.reserve(threads.size() + count);
  try {
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([body, i] { body(i); });
  } catch (...) {
    stop();
    throw;
  }
}

}  // namespace echoline::engine
