// Extents that consist of several parts of their object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/index/byte_range.h"

namespace echoline::record {

// Immutable; any thread may read it.
class GatheredParts {
 public:
  virtual ~GatheredParts() = default;
  // The parts whose bytes, one after the other, are those of the extent at `offset`; empty if that
  // extent is a range of its object. An extent with parts is beyond the end of its object.
  virtual std::vector<ByteRange> parts_at(const std::string& url, std::uint64_t offset) const = 0;
};

}  // namespace echoline::record
