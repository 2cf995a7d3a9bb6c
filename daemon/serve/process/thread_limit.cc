#include "serve/process/thread_limit.h"

#include <fmt/format.h>

#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "base/system_limit.h"

namespace echoline::serve {

Status check_threads(std::size_t count) {
  std::latch end(1);
  // Destroyed, and so joined, before the latch.
  std::vector<std::jthread> threads;
  Status status;
  try {
    while (threads.size() < count) threads.emplace_back([&end] { end.wait(); });
  } catch (const std::system_error& error) {
    status = limit_reached(error).with_context(
        fmt::format("thread {} of {} that it needs at least", threads.size() + 1, count));
  }
  end.count_down();
  return status;
}

}  // namespace echoline::serve
