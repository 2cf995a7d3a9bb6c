// Extents that consist of several parts of their object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echoline::record {

// One piece of an object.
struct ObjectPart {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Immutable; any thread may read it.
class GatheredParts {
 public:
  virtual ~GatheredParts() = default;
  // The parts whose bytes, one after the other, are those of the extent at `offset`; empty if that
  // extent is a range of its object. An extent with parts is beyond the end of its object.
  virtual std::vector<ObjectPart> parts_at(const std::string& url, std::uint64_t offset) const = 0;
};

}  // namespace echoline::record
