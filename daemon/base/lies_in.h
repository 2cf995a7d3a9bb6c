// Whether bytes are part of others.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace echoline {

// Also for bytes of different objects, whose addresses only std::less_equal compares.
inline bool lies_in(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return std::less_equal<>()(whole.data(), part.data()) &&
         std::less_equal<>()(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace echoline
