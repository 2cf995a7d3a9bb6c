#include "jpeg/planes.h"

namespace echoline::jpeg {

void Planes::resize(std::size_t component_count, const Geometry& geometry,
                    std::uint32_t mcu_columns, std::uint32_t mcu_rows) {
  constexpr std::size_t kLeft = kRowPadding;
  std::size_t at = kLeft;
  for (std::size_t i = 0; i < component_count; ++i) {
    const std::uint32_t wide = i == 0 ? geometry.horizontal : 1;
    const std::uint32_t high = i == 0 ? geometry.vertical : 1;
    const std::uint32_t rows = mcu_rows * high * kBlockSide;
    const std::size_t stride = std::size_t{mcu_columns} * wide * kBlockSide + kLeft + kRowPadding;
    planes_[i] = {at, stride, rows - 1};
    at += rows * stride;
  }
  memory_.resize(at);
}

}  // namespace echoline::jpeg
