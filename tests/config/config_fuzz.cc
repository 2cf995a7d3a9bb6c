// Any text gives a configuration or a one-line error, in bounded time and memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = echoline::config::parse_config(text, "fuzz.yaml");
  if (!config.ok() && config.status().message().empty()) std::abort();
  return 0;
}
