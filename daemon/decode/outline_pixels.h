// The pixels of an object, from its polygons or run lengths.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/annotations.h"
#include "decode/image_reader.h"

namespace echoline::decode {

// Pixels counted down the columns, from left to right: pixel (row, column) is column * height +
// row. [begin, end)
struct PixelRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The reusable memory of one thread.
struct OutlineScratch {
  std::vector<PixelRun> runs;
  std::vector<std::uint64_t> edges;
};

// Crossings of all polygons of a file with columns, so that a small file can't cost much time.
inline constexpr std::uint64_t kCrossingsMax = 4 << 20;

// Fills scratch.runs with the pixels of object `number`, by COCO's rule; runs may overlap. `budget`
// limits the crossings over all objects of a file: it begins with kCrossingsMax. kInvalidArgument
// and kResourceExhausted: the reason, with the number.
Status outline_pixels(const Annotations& found, std::size_t number, const ImageSize& size,
                      std::uint64_t& budget, OutlineScratch& scratch);

}  // namespace echoline::decode
