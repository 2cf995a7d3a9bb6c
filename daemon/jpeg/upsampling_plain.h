// Upsampling without vector instructions: the definition of jpeg/upsampling.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::jpeg {

inline void upsample_columns_plain(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i, ++in) {
    out[2 * i] = static_cast<std::uint8_t>((3 * in[0] + in[-1] + 1) >> 2);
    out[2 * i + 1] = static_cast<std::uint8_t>((3 * in[0] + in[1] + 2) >> 2);
  }
}

inline void upsample_rows_plain(const std::uint8_t* near, const std::uint8_t* far, bool below,
                                std::size_t count, std::uint8_t* out) {
  const int rounding = below ? 2 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<std::uint8_t>((3 * near[i] + far[i] + rounding) >> 2);
  }
}

inline void upsample_both_plain(const std::uint8_t* near, const std::uint8_t* far,
                                std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i, ++near, ++far) {
    const int sum = 3 * near[0] + far[0];
    out[2 * i] = static_cast<std::uint8_t>((3 * sum + 3 * near[-1] + far[-1] + 8) >> 4);
    out[2 * i + 1] = static_cast<std::uint8_t>((3 * sum + 3 * near[1] + far[1] + 7) >> 4);
  }
}

}  // namespace echoline::jpeg
