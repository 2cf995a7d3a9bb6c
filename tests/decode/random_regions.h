// Random regions of pictures, the same in each run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "decode/image_reader.h"

namespace echoline::decode {

class RandomRegions {
 public:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }

  // A third of the sides are short, a third touch an edge.
  Region of(const ImageSize& size) {
    Region region;
    choose_side(size.height, region.top, region.height);
    choose_side(size.width, region.left, region.width);
    return region;
  }

 private:
  void choose_side(std::uint32_t whole, std::uint32_t& first, std::uint32_t& length) {
    length = below(3) == 0 ? std::min(whole, 1 + below(4)) : 1 + below(whole);
    const std::uint32_t last = whole - length;
    first = below(6) == 0 ? 0 : below(5) == 0 ? last : below(last + 1);
  }

  std::mt19937_64 engine_{7};
};

}  // namespace echoline::decode
