#include "plugin_runner/settings.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "echoline/shm/worker_messages.h"
#include "plugin_runner/failure.h"

namespace echoline::plugin_runner {
namespace {

std::string read_all(int file) {
  std::string text;
  char part[16 << 10];
  while (true) {
    const ssize_t count = ::read(file, part, sizeof part);
    if (count < 0) fail("the daemon's settings cannot be read");
    if (count == 0) return text;
    text.append(part, static_cast<std::size_t>(count));
  }
}

// A package can be upgraded while its daemon runs. That daemon and this program may understand the
// messages differently.
void check_version(const nlohmann::json& settings) {
  const std::string daemon = settings.value("version", "an older version");
  if (daemon != ECHOLINE_PACKAGE_VERSION)
    fail(
        "echoline-plugin-runner has version {}, and the daemon that started it has {}; restart "
        "the daemon after an upgrade",
        ECHOLINE_PACKAGE_VERSION, daemon);
}

}  // namespace

Settings read_settings() {
  const nlohmann::json json = nlohmann::json::parse(read_all(shm::kWorkerSettings));
  check_version(json);
  return {.library = json.at("file").get<std::string>(),
          .step = json.at("function").get<std::string>(),
          .settings = json.at("settings").get<std::string>(),
          .number = json.at("step").get<std::uint32_t>(),
          .inputs = fields_from(json.at("inputs")),
          .outputs = fields_from(json.at("outputs")),
          .memory_bytes = json.at("memory_bytes").get<std::uint64_t>(),
          .sample_bytes = json.at("sample_bytes").get<std::uint64_t>()};
}

}  // namespace echoline::plugin_runner
