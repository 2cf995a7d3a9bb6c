// The process of a plugin: loads its library, and answers the calls of the daemon, which starts it
// (daemon/user_code/worker.cc) and keeps the other ends of its descriptors.
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "plugin_runner/calls.h"
#include "plugin_runner/failure.h"
#include "plugin_runner/process.h"

namespace echoline::plugin_runner {
namespace {

std::span<std::byte> map_area(int file, std::uint64_t bytes, int access) {
  void* data = ::mmap(nullptr, bytes, access, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) fail("the shared memory cannot be mapped");
  return {static_cast<std::byte*>(data), bytes};
}

bool send_reply(const std::vector<std::byte>& reply) {
  return ::send(shm::kWorkerSocket, reply.data(), reply.size(), MSG_NOSIGNAL) >= 0;
}

// Until the daemon closes the socket or says that there are no more calls.
void answer_calls(Calls& calls) {
  std::vector<std::byte> message(shm::kWorkerMessageBytesMax);
  while (true) {
    const ssize_t count = ::recv(shm::kWorkerSocket, message.data(), message.size(), 0);
    if (count < static_cast<ssize_t>(sizeof(shm::CallHead))) return;
    if (!send_reply(calls.answer(std::span(message).first(static_cast<std::size_t>(count)))))
      return;
  }
}

void send_ready(const LoadedStep& loaded, const std::vector<Field>& outputs) {
  send_reply(text_reply(shm::ReplyKind::kReady, 0, "", loaded.about, json_of(outputs).dump()));
}

void run() {
  const Settings settings = read_settings();
  limit_memory(settings.memory_bytes);
  const LoadedStep loaded = load_step(settings);
  Host host(map_area(shm::kWorkerOutput, settings.sample_bytes, PROT_READ | PROT_WRITE));
  const std::vector<Field> outputs = describe(*loaded.step, settings, host);
  if (settings.outputs.empty()) return send_ready(loaded, outputs);
  if (json_of(outputs) != json_of(settings.outputs))
    fail("describe gives other outputs than when the stream was opened");
  Calls calls(*loaded.step, settings, host,
              map_area(shm::kWorkerInput, settings.sample_bytes, PROT_READ));
  send_ready(loaded, outputs);
  answer_calls(calls);
}

}  // namespace
}  // namespace echoline::plugin_runner

int main() {
  using namespace echoline;
  plugin_runner::end_with_daemon();
  plugin_runner::keep_descriptors();
  plugin_runner::report_crashes();
  try {
    plugin_runner::run();
    return 0;
  } catch (const std::exception& error) {
    // The daemon says the reason.
    plugin_runner::send_reply(
        plugin_runner::text_reply(shm::ReplyKind::kNotLoaded, 0, error.what(), error.what()));
    return 1;
  }
}
