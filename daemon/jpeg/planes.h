// The samples of the last MCU rows, component by component, in rings of rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "jpeg/geometry.h"
#include "jpeg/markers.h"

namespace echoline::jpeg {

// Loops over a row may read and write so many bytes beyond its end.
inline constexpr std::size_t kRowPadding = 64;

// Reused from picture to picture. Keeps two MCU rows or more, because upsampling looks at the row
// above and below. Columns count from the first MCU of the window on. Each row can be read and
// written kRowPadding bytes beyond both ends.
class Planes {
 public:
  // `mcu_rows` is a power of two.
  void resize(std::size_t component_count, const Geometry& geometry, std::uint32_t mcu_columns,
              std::uint32_t mcu_rows);

  // Row `y` of the component's samples; valid while its MCU row is one of the last ones.
  std::uint8_t* row(std::size_t component, std::uint32_t y) {
    Plane& plane = planes_[component];
    return data() + plane.begin + (y & plane.row_mask) * plane.stride;
  }
  std::size_t stride(std::size_t component) const { return planes_[component].stride; }

 private:
  struct Plane {
    std::size_t begin = 0;
    std::size_t stride = 0;
    std::uint32_t row_mask = 0;  // rows of the ring, a power of two, minus one
  };

  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(memory_.data()); }

  Buffer memory_;
  std::array<Plane, kComponentsMax> planes_;
};

}  // namespace echoline::jpeg
