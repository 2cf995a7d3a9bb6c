// The host's side of echoline_plugin.h: the functions that a plugin may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "echoline/echoline_plugin.h"
#include "echoline/shm/worker_messages.h"
#include "plugin_runner/field.h"

namespace echoline::plugin_runner {

class Host {
 public:
  // Arrays go to `area`.
  explicit Host(std::span<std::byte> area);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const echoline_plugin_host* functions() const { return &functions_.host; }

  // What add_output was called with.
  std::vector<Field> take_described() { return std::exchange(described_, {}); }

  // Begins a message: all results so far may be overwritten.
  void begin_message() { used_ = 0; }
  // Begins a call of run. The fields and places have to live until the next one.
  void begin_sample(const std::vector<Field>& inputs, const std::vector<Field>& outputs,
                    std::span<const shm::ArrayWords> places);
  // Where the outputs are.
  const std::vector<shm::ArrayWords>& results() const { return results_; }
  // Which output was not made, or what a function of the host refused; empty: all is right.
  std::string unfinished() const;

  // Why a function of the host refused something since the last call; empty: it did not.
  const std::string& refusal() const { return refusal_; }
  // The text that the plugin gave to `fail`, or words for the status that it returned.
  std::string failure_text(int status);

 private:
  // A plugin only gives back the address of `host`.
  struct Functions {
    echoline_plugin_host host;
    Host* self;
  };
  static Host& self_of(const echoline_plugin_host* host);
  static int fail_entry(const echoline_plugin_host* host, int status, const char* text) noexcept;
  static int add_output_entry(const echoline_plugin_host* host,
                              const echoline_plugin_field* field) noexcept;
  static void* allocate_entry(const echoline_plugin_host* host, std::size_t output,
                              std::int32_t axis_count, const std::int64_t* shape) noexcept;
  static int return_input_entry(const echoline_plugin_host* host, std::size_t output,
                                std::size_t input) noexcept;

  std::byte* allocate(std::size_t output, std::span<const std::int64_t> shape);
  void return_input(std::size_t output, std::size_t input);
  // Throws if there is no such output, or if it is made already.
  const Field& new_output(std::size_t output) const;

  Functions functions_;
  const std::span<std::byte> area_;
  std::size_t used_ = 0;  // of the area
  std::vector<Field> described_;
  const std::vector<Field>* inputs_ = nullptr;
  const std::vector<Field>* outputs_ = nullptr;
  std::span<const shm::ArrayWords> places_;
  std::vector<shm::ArrayWords> results_;
  std::vector<bool> made_;  // by output
  std::string refusal_;
  std::string failure_;
};

}  // namespace echoline::plugin_runner
