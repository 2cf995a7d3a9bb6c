// What the daemon tells the process about its plugin (daemon/user_code/worker.cc).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin_runner/field.h"

namespace echoline::plugin_runner {

struct Settings {
  std::string library;  // the path
  std::string step;
  std::string settings;      // of the plugin: JSON
  std::uint32_t number = 0;  // of the step
  std::vector<Field> inputs;
  std::vector<Field> outputs;  // none: the process only describes them
  std::uint64_t memory_bytes = 0;
  std::uint64_t sample_bytes = 0;
};

// Reads them from the descriptor kWorkerSettings.
Settings read_settings();

}  // namespace echoline::plugin_runner
