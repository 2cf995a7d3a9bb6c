// Answers the daemon's calls with one instance of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "echoline/shm/worker_messages.h"
#include "plugin_runner/host.h"
#include "plugin_runner/library.h"
#include "plugin_runner/settings.h"

namespace echoline::plugin_runner {

// A reply that is a text: the group of errors that are logged once, one line, and more.
std::vector<std::byte> text_reply(shm::ReplyKind kind, std::uint64_t sequence,
                                  std::string_view group, std::string_view line,
                                  std::string_view more = {});

// Calls `describe`. Throws Failure if the plugin refuses, or describes no outputs.
std::vector<Field> describe(const echoline_plugin_step& step, const Settings& settings, Host& host);

class Calls {
 public:
  // Creates the instance. Throws Failure if the plugin refuses.
  Calls(const echoline_plugin_step& step, const Settings& settings, Host& host,
        std::span<std::byte> input);
  // Destroys it.
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // The reply to a message with a call. Ends the process if the plugin says that it is broken.
  std::vector<std::byte> answer(std::span<const std::byte> message);

 private:
  // Why a sample has no result.
  struct SampleFailure {
    shm::ReplyKind kind;
    std::string text;
  };
  // Calls run for one sample of the message.
  std::optional<SampleFailure> run_sample(std::span<const std::byte> message,
                                          const shm::CallHead& head, std::uint32_t sample);
  // The inputs of a sample, in the shared memory.
  void set_tensors(std::span<const shm::ArrayWords> places);

  const echoline_plugin_step& step_;
  const Settings& settings_;
  Host& host_;
  const std::span<std::byte> input_;
  void* instance_ = nullptr;
  std::vector<std::int64_t> sizes_;  // shape and strides of each input
  std::vector<DLTensor> tensors_;
};

}  // namespace echoline::plugin_runner
