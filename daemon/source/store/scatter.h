// A body that arrives in pieces, laid into the segments of a request. Gaps are passed over.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "source/core/source.h"

namespace echoline::source {

// One thread. Invariant: everything of the segments below position() has been written.
class Scatter {
 public:
  explicit Scatter(std::vector<Segment> segments) : segments_(std::move(segments)) {
    std::erase_if(segments_, [](const Segment& segment) { return segment.destination.empty(); });
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      ECHOLINE_CHECK(end_of(i) > segments_[i].offset);
      ECHOLINE_CHECK(i == 0 || segments_[i].offset >= end_of(i - 1));
    }
    rewind();
  }

  bool empty() const { return segments_.empty(); }
  std::uint64_t begin() const { return empty() ? 0 : segments_.front().offset; }
  std::uint64_t end() const { return empty() ? 0 : end_of(segments_.size() - 1); }

  // The first byte of the object that is still wanted; end() when nothing is.
  std::uint64_t position() const { return position_; }
  bool done() const { return position_ >= end(); }

  void rewind() {
    index_ = 0;
    position_ = begin();
  }

  // Before a new request for the rest: a gap that comes first needn't be read.
  void skip_gap() {
    if (!done()) position_ = std::max(position_, segments_[index_].offset);
  }

  // Takes the bytes of the object from position() on.
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty() && !done()) {
      const Segment& segment = segments_[index_];
      if (position_ < segment.offset) {
        const std::size_t gap = std::min<std::uint64_t>(segment.offset - position_, bytes.size());
        position_ += gap;
        bytes = bytes.subspan(gap);
        continue;
      }
      const std::size_t count = std::min<std::uint64_t>(end_of(index_) - position_, bytes.size());
      std::memcpy(segment.destination.data() + (position_ - segment.offset), bytes.data(), count);
      position_ += count;
      bytes = bytes.subspan(count);
      if (position_ == end_of(index_)) ++index_;
    }
  }

 private:
  std::uint64_t end_of(std::size_t i) const {
    return segments_[i].offset + segments_[i].destination.size();
  }

  std::vector<Segment> segments_;
  std::size_t index_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace echoline::source
