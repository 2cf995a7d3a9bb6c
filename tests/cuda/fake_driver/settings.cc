#include "cuda/fake_driver/settings.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace echoline::cuda_test {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value) {
  std::fprintf(stderr,
               "%s can't be read: '%.*s'; see settings.h of the stand-in of CUDA's driver\n", name,
               static_cast<int>(value.size()), value.data());
  std::abort();
}

template <typename Number>
Number number(const char* name, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) refuse(name, text);
  return value;
}

// Removes and returns the part of `text` before `separator`; all of it if there is no separator.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + 1);
  return part;
}

template <typename Number>
void read(const char* name, Number& value) {
  if (const char* text = std::getenv(name)) value = number<Number>(name, text);
}

void read_delay(const char* name, Settings& settings) {
  const char* value = std::getenv(name);
  if (value == nullptr) return;
  std::string_view text = value;
  settings.delay_min_us = number<unsigned>(name, cut(text, '-'));
  settings.delay_max_us = number<unsigned>(name, text);
  if (settings.delay_max_us < settings.delay_min_us) refuse(name, value);
}

void read_faults(const char* name, std::vector<Fault>& faults) {
  const char* value = std::getenv(name);
  std::string_view all = value != nullptr ? value : "";
  while (!all.empty()) {
    std::string_view text = cut(all, ',');
    Fault fault{};
    fault.function = cut(text, ':');
    fault.code = number<Code>(name, cut(text, ':'));
    fault.sticky = text.ends_with('+');
    if (fault.sticky) text.remove_suffix(1);
    fault.nth = number<int>(name, text);
    faults.push_back(std::move(fault));
  }
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  read("FAKE_CUDA_DEVICES", settings.devices);
  read("FAKE_CUDA_MEMORY", settings.memory);
  int read_only = settings.read_only_register ? 1 : 0;
  read("FAKE_CUDA_READ_ONLY_REGISTER", read_only);
  settings.read_only_register = read_only != 0;
  read("FAKE_CUDA_SEED", settings.seed);
  read_delay("FAKE_CUDA_DELAY_US", settings);
  read_faults("FAKE_CUDA_FAIL", settings.faults);
  return settings;
}

}  // namespace echoline::cuda_test
