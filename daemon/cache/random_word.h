// A word that no other daemon has drawn: names for what must not be taken for another's.
#pragma once

#include <cstdint>
#include <random>

namespace echoline::cache {

inline std::uint64_t random_word() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

}  // namespace echoline::cache
