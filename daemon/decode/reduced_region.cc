#include "decode/reduced_region.h"

#include <algorithm>

#include "base/check.h"

namespace echoline::decode {
namespace {

// [first, first + length) of a side of the whole picture, then of the reduced one.
struct Side {
  std::uint32_t first = 0;
  std::uint32_t length = 0;
};

// `padding`: what comes before the side in the reduced picture's first pixel.
Side reduced(const Side& side, std::uint32_t whole, std::uint32_t by, std::uint32_t padding) {
  const std::uint32_t complete = (padding + by - 1) / by;  // the first pixel without padding
  const std::uint32_t complete_end = (whole + padding) / by;
  const std::uint32_t first = std::max((side.first + padding) / by, complete);
  const std::uint32_t end =
      std::min((side.first + side.length + padding + by - 1) / by, complete_end);
  ECHOLINE_CHECK(first < end);
  return {first, end - first};
}

}  // namespace

Region reduced_region(const Region& region, const ImageSize& size, const Reduction& reduction) {
  const auto padding = [](std::int32_t begin) { return static_cast<std::uint32_t>(-begin); };
  const Side rows =
      reduced({region.top, region.height}, size.height, reduction.by, padding(reduction.top));
  const Side columns =
      reduced({region.left, region.width}, size.width, reduction.by, padding(reduction.left));
  return {rows.first, columns.first, rows.length, columns.length};
}

}  // namespace echoline::decode
