// The bytes of a scan without stuffing and markers: ITU-T T.81, B.1.1.5 (stuffed zeros) and E.2.4
// (restart markers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "jpeg/markers.h"

namespace echoline::jpeg {

// Reused from scan to scan. An *interval* is what lies between two restart markers.
class ScanBytes {
 public:
  // Zeros that follow the last byte: readers may go that far beyond it before they check.
  static constexpr std::size_t kPadding = 4096;

  static constexpr std::size_t kAll = ~std::size_t{0};

  // Reads from file[begin] to the first marker that doesn't belong to the scan. `restarts`: restart
  // markers belong to it, in their order. False if the file ends before such a marker, or if there
  // are fill bytes (B.1.1.2): libjpeg then knows what to do. Stops early, with what is then the
  // last interval, once there are `enough` bytes.
  bool load(Bytes file, std::size_t begin, bool restarts, std::size_t enough = kAll);

  std::size_t interval_count() const { return ends_.size(); }
  const std::uint8_t* begin(std::size_t interval) const;
  const std::uint8_t* end(std::size_t interval) const;
  // The bytes of all intervals, one after the other.
  const std::uint8_t* begin() const { return data(); }
  std::size_t size() const { return ends_.back(); }

 private:
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(bytes_.data()); }

  Buffer bytes_;
  std::vector<std::size_t> ends_;  // of intervals, offsets into bytes_
};

}  // namespace echoline::jpeg
