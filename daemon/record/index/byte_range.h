// A range of bytes of an object.
#pragma once

#include <cstdint>

namespace echoline::record {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

}  // namespace echoline::record
