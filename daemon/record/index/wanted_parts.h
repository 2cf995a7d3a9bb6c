// Which parts of objects the waiting requests of an UnpackingSource want.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/index/unpacked_part.h"
#include "source/core/source.h"

namespace echoline::record {

// Single-threaded. Counts the segments that wait, so that a question takes no loop over them.
class WantedParts {
 public:
  explicit WantedParts(UnpackedParts parts) : parts_(std::move(parts)) {}

  // The parts of an object; null if it is read as it is.
  const std::vector<UnpackedPart>* parts_of(const std::string& url) const;
  // The part that has this place of the unpacked bytes; the last one for a place behind the end.
  static const UnpackedPart& part_at(const std::vector<UnpackedPart>& parts, std::uint64_t offset);

  // All segments of a request wait, or none of them any more.
  void add(const source::ReadRequest& request);
  void remove(const source::ReadRequest& request);
  // One segment of the part does not wait any more.
  void remove_one(const UnpackedPart& part);

  bool contains(const UnpackedPart& part) const { return counts_.contains(&part); }
  // Whether a segment of the request is in the part.
  bool waits_for(const source::ReadRequest& request, const UnpackedPart& part) const;

 private:
  const UnpackedParts parts_;
  std::unordered_map<const UnpackedPart*, std::size_t> counts_;
};

}  // namespace echoline::record
