// Loads the library of a plugin and finds the step in it.
#pragma once

#include <string>

#include "plugin_runner/settings.h"

namespace echoline::plugin_runner {

struct LoadedStep {
  const echoline_plugin_step* step = nullptr;
  std::string about;  // the library, in a few words
};

// Throws Failure: the library or the step is missing, or is for another version of the interface.
// The library stays loaded until the process ends.
LoadedStep load_step(const Settings& settings);

}  // namespace echoline::plugin_runner
