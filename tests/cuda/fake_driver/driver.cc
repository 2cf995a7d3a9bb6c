#include "cuda/fake_driver/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace echoline::cuda_test {
namespace {

// At exit, as a real driver: afterwards all calls fail and no thread of it runs.
void end_at_exit() {
  Driver& driver = Driver::get();
  if (driver.initialised_in != ::getpid()) return;
  std::unique_lock lock(driver.mutex);
  driver.exited = true;
  driver.reset(lock);
  driver.changed.wait(lock, [&] { return driver.threads == 0; });
}

}  // namespace

Driver& Driver::get() {
  static Driver* const driver = [] {
    auto* made = new Driver;
    std::atexit(end_at_exit);
    return made;
  }();
  return *driver;
}

Driver::Driver() : settings(Settings::from_environment()), random(settings.seed) {
  for (const Fault& fault : settings.faults) faults.add(fault);
}

std::chrono::microseconds Driver::draw_delay() {
  std::uniform_int_distribution<unsigned> delay(settings.delay_min_us, settings.delay_max_us);
  return std::chrono::microseconds(delay(random));
}

const Pinned* Driver::pinned_overlap(const HostRange& range) const {
  const auto found = std::find_if(pinned.begin(), pinned.end(), [&](const auto& entry) {
    return entry.second.range.overlaps(range);
  });
  return found == pinned.end() ? nullptr : &found->second;
}

bool Driver::in_use(const HostRange& range) const {
  return std::any_of(contexts.begin(), contexts.end(), [&](const auto& entry) {
    const auto& all = entry.second->streams;
    return std::any_of(all.begin(), all.end(), [&](const auto& s) { return s->uses(range); });
  });
}

bool Driver::capturing() const {
  return std::any_of(streams.begin(), streams.end(), [](const auto& entry) {
    return entry.second->capture != client::cuda::kCaptureNone;
  });
}

void Driver::destroy(const std::shared_ptr<Context>& context, std::unique_lock<std::mutex>& lock) {
  context->alive = false;
  for (const auto& stream : context->streams) stream->close();
  changed.wait(lock, [&] { return context->streams.empty(); });
  context->default_stream = nullptr;
  std::erase_if(streams, [&](const auto& entry) { return entry.second->context == context; });
  std::erase_if(events, [&](const auto& entry) { return entry.second->context.lock() == context; });
  std::erase_if(modules, [&](const auto& entry) { return entry.second->lock() == context; });
  for (const auto& [begin, mapping] : context->memory) mapping.unmap();
  context->memory.clear();
  std::erase_if(contexts, [&](const auto& entry) { return entry.second == context; });
}

void Driver::reset(std::unique_lock<std::mutex>& lock) {
  while (!contexts.empty()) {
    const std::shared_ptr<Context> context = contexts.begin()->second;
    destroy(context, lock);
  }
  modules.clear();
  functions.clear();
  for (const auto& [begin, held] : pinned) {
    if (held.mapping.memory != nullptr) held.mapping.unmap();
  }
  pinned.clear();
  settings = Settings::from_environment();
  faults = {};
  for (const Fault& fault : settings.faults) faults.add(fault);
  random.seed(settings.seed);
  misuses.clear();
  done = {};
}

}  // namespace echoline::cuda_test
