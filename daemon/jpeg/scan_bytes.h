// The bytes of a scan without stuffing and markers: ITU-T T.81, B.1.1.5 (stuffed zeros) and E.2.4
// (restart markers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "jpeg/markers.h"

namespace echoline::jpeg {

// A byte of the file, and how many of its bits are used up.
struct BitPosition {
  std::uint64_t byte = 0;
  std::uint8_t bit = 0;  // 0 to 7

  bool operator==(const BitPosition&) const = default;
};

// Reused from scan to scan. An *interval* is what lies between two restart markers.
class ScanBytes {
 public:
  // Zeros that follow the last byte: readers may go that far beyond it before they check.
  static constexpr std::size_t kPadding = 4096;

  // Reads from file[begin] to the first marker that doesn't belong to the scan. `restart`: the
  // number (0 to 7) that the next restart marker must have; kNoRestarts: the scan has none. False
  // if the file ends before such a marker, or if there are fill bytes (B.1.1.2): libjpeg then knows
  // what to do.
  static constexpr unsigned kNoRestarts = 8;
  bool load(Bytes file, std::size_t begin, unsigned restart);

  std::size_t interval_count() const { return ends_.size(); }
  const std::uint8_t* begin(std::size_t interval) const;
  const std::uint8_t* end(std::size_t interval) const;
  // Where a bit of these bytes is in the file: `bit` bits after `byte`.
  BitPosition position_of(const std::uint8_t* byte, unsigned bit) const;

 private:
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(bytes_.data()); }

  // Bytes of the file are left out behind `end`, an offset into `bytes_`.
  struct Gap {
    std::size_t end = 0;
    std::size_t left_out = 0;  // here and before
  };

  Buffer bytes_;
  std::size_t file_begin_ = 0;
  std::vector<std::size_t> ends_;  // of intervals, offsets into bytes_
  std::vector<Gap> gaps_;
};

}  // namespace echoline::jpeg
