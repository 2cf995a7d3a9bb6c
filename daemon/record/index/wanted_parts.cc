#include "record/index/wanted_parts.h"

#include <algorithm>

namespace echoline::record {

const std::vector<UnpackedPart>* WantedParts::parts_of(const std::string& url) const {
  const auto found = parts_.find(url);
  return found == parts_.end() ? nullptr : &found->second;
}

const UnpackedPart& WantedParts::part_at(const std::vector<UnpackedPart>& parts,
                                         std::uint64_t offset) {
  const auto after = std::upper_bound(
      parts.begin() + 1, parts.end(), offset,
      [](std::uint64_t wanted, const UnpackedPart& part) { return wanted < part.begin; });
  return *(after - 1);
}

void WantedParts::add(const source::ReadRequest& request) {
  const auto* parts = parts_of(request.object.url);
  if (parts == nullptr) return;
  for (const source::Segment& segment : request.segments) {
    ++counts_[&part_at(*parts, segment.offset)];
  }
}

void WantedParts::remove(const source::ReadRequest& request) {
  const auto* parts = parts_of(request.object.url);
  if (parts == nullptr) return;
  for (const source::Segment& segment : request.segments) {
    remove_one(part_at(*parts, segment.offset));
  }
}

void WantedParts::remove_one(const UnpackedPart& part) {
  const auto count = counts_.find(&part);
  if (--count->second == 0) counts_.erase(count);
}

bool WantedParts::waits_for(const source::ReadRequest& request, const UnpackedPart& part) const {
  const auto* parts = parts_of(request.object.url);
  return parts != nullptr && std::any_of(request.segments.begin(), request.segments.end(),
                                         [&](const source::Segment& segment) {
                                           return &part_at(*parts, segment.offset) == &part;
                                         });
}

}  // namespace echoline::record
