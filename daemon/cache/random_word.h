// A random 64-bit word, used as a unique name.
#pragma once

#include <cstdint>
#include <random>

namespace echoline::cache {

inline std::uint64_t random_word() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

}  // namespace echoline::cache
