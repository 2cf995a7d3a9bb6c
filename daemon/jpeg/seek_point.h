// Where the rows of MCUs begin in a scan, so that a decoder can begin there.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "jpeg/markers.h"

namespace echoline::jpeg {

// All that is needed to begin at one MCU row. Predictions are kept in 16 bits, as coefficients are.
struct SeekPoint {
  std::uint32_t bit = 0;  // of the scan, without stuffing and markers
  std::array<std::int16_t, kComponentsMax> dc{};
  std::int16_t reserved = 0;

  bool operator==(const SeekPoint&) const = default;
};

// One point for each MCU row of a file whose scan was decoded to its end without an anomaly. So the
// file is known to be good, and a decoder needs only the rows and columns that it wants. Points of
// another file, or damaged ones, give other pixels or an anomaly, and nothing worse.
using SeekPoints = std::span<const SeekPoint>;

}  // namespace echoline::jpeg
