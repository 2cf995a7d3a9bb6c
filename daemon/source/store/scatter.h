// Writes a body that arrives in pieces into the segments of a request; bytes of gaps are dropped.
// Computes the checksums of the segments while their bytes are in the processor's cache.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/crc.h"
#include "source/core/source.h"

namespace echoline::source {

// One thread. Invariant: all bytes of the segments below position() have been written.
class Scatter {
 public:
  explicit Scatter(std::vector<Segment> segments, bool with_checksums = false)
      : checksums_(with_checksums ? segments.size() : 0) {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].destination.empty()) continue;  // its checksum is 0
      segments_.push_back(segments[i]);
      numbers_.push_back(i);
    }
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      ECHOLINE_CHECK(end_of(i) > segments_[i].offset);
      ECHOLINE_CHECK(i == 0 || segments_[i].offset >= end_of(i - 1));
    }
    rewind();
  }

  bool empty() const { return segments_.empty(); }
  std::uint64_t begin() const { return empty() ? 0 : segments_.front().offset; }
  std::uint64_t end() const { return empty() ? 0 : end_of(segments_.size() - 1); }

  // Offset of the next needed byte in the object; end() if none is needed.
  std::uint64_t position() const { return position_; }
  bool done() const { return position_ >= end(); }

  void rewind() {
    index_ = 0;
    position_ = begin();
    std::fill(checksums_.begin(), checksums_.end(), 0);
  }

  // Where a request for the rest begins: a gap at its start need not be read.
  std::uint64_t next_needed() const {
    return done() ? position_ : std::max(position_, segments_[index_].offset);
  }

  // The next bytes come from `offset` on, at most next_needed(): those of a gap before it are left
  // out.
  void skip_gap(std::uint64_t offset) { position_ = std::max(position_, offset); }

  // The CRC-32C of each segment, also of empty ones, when done(); empty if they are not wanted.
  const std::vector<std::uint32_t>& checksums() const { return checksums_; }

  // Takes the object's bytes from position() on.
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
      if (!checksums_.empty()) {
        std::uint32_t& checksum = checksums_[numbers_[index_]];
        checksum = crc32c(checksum, bytes.first(count));
      }
      position_ += count;
      bytes = bytes.subspan(count);
      if (position_ == end_of(index_)) ++index_;
    }
  }

 private:
  std::uint64_t end_of(std::size_t i) const {
    return segments_[i].offset + segments_[i].destination.size();
  }

  std::vector<Segment> segments_;         // those that are not empty
  std::vector<std::size_t> numbers_;      // of these, among all
  std::vector<std::uint32_t> checksums_;  // of all; of the bytes before position_
  std::size_t index_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace echoline::source
