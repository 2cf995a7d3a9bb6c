#include "plugin_runner/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>

#include "echoline/shm/worker_messages.h"
#include "plugin_runner/failure.h"

namespace echoline::plugin_runner {
namespace {

// Up to the last members of the first header of this version. Plugins that were built with it stay
// valid, so a later member needs a default for smaller structures.
constexpr std::size_t kPluginBytes = offsetof(echoline_plugin, steps) + sizeof(void*);
constexpr std::size_t kStepBytes = offsetof(echoline_plugin_step, destroy) + sizeof(void*);

constexpr const char* kEntry = "echoline_plugin_get";

// The path, so that debuggers and $ORIGIN know the library. If it has another file by now, the one
// that the daemon has opened.
std::string path_of(const std::string& library) {
  struct stat there {
  }, opened{};
  const bool same = ::stat(library.c_str(), &there) == 0 &&
                    ::fstat(shm::kWorkerCode, &opened) == 0 && there.st_dev == opened.st_dev &&
                    there.st_ino == opened.st_ino;
  return same ? library : fmt::format("/proc/self/fd/{}", static_cast<int>(shm::kWorkerCode));
}

const echoline_plugin& load(const std::string& path) {
  void* library = ::dlopen(path_of(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail("the library cannot be loaded: {}", ::dlerror());
  using Entry = const echoline_plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, kEntry));
  if (entry == nullptr)
    fail("the library is no plugin: it does not export {} (echoline_plugin.h)", kEntry);
  const echoline_plugin* plugin = entry();
  if (plugin == nullptr) fail("{} returned NULL", kEntry);
  // The first two members are the same in all versions.
  if (plugin->version != ECHOLINE_PLUGIN_VERSION)
    fail(
        "the plugin has version {} of the interface, and this Echoline version {}: build it with "
        "the echoline_plugin.h of this Echoline",
        plugin->version, ECHOLINE_PLUGIN_VERSION);
  if (plugin->size < kPluginBytes || (plugin->step_count > 0 && plugin->steps == nullptr))
    fail("{} returned a structure of {} bytes; it has {}", kEntry, plugin->size, kPluginBytes);
  return *plugin;
}

void check(const echoline_plugin_step& step) {
  if (step.size < kStepBytes)
    fail("the structure of step {} has {} bytes instead of {}", step.name, step.size, kStepBytes);
  if (step.describe == nullptr || step.create == nullptr || step.run == nullptr)
    fail("the step {} lacks describe, create or run", step.name);
}

}  // namespace

LoadedStep load_step(const Settings& settings) {
  const echoline_plugin& plugin = load(settings.library);
  std::string names;
  for (std::size_t i = 0; i < plugin.step_count; ++i) {
    const echoline_plugin_step* step = plugin.steps[i];
    if (step == nullptr || step->name == nullptr) fail("the step {} of the plugin has no name", i);
    if (settings.step == step->name) {
      check(*step);
      return {step, plugin.about == nullptr ? "no version" : plugin.about};
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", step->name);
  }
  fail("there is no step {} in the library; there are: {}", settings.step,
       names.empty() ? "none" : names);
}

}  // namespace echoline::plugin_runner
