// Walks over the MCUs of a scan: ITU-T T.81, E.2 (restart intervals, E.2.4) and F.2.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "jpeg/geometry.h"
#include "jpeg/huffman_table.h"
#include "jpeg/markers.h"
#include "jpeg/mcu.h"
#include "jpeg/scan_bytes.h"
#include "jpeg/seek_point.h"

namespace echoline::jpeg {

// Reused from scan to scan. Every function returns false at an anomaly of the data, or if asked for
// MCUs beyond the last one; the scan is over then.
class Scan {
 public:
  // A place in the scan, which moves on from MCU to MCU.
  struct Place {
    EntropyState state;
    std::uint64_t mcus_left = 0;
    std::uint64_t left_in_interval = 0;
    std::size_t interval = 0;  // of bytes_
  };

  // The file of the header must stay valid while this is used. A call makes all places of earlier
  // scans invalid.
  bool begin(const Header& header, Bytes file);
  // The same for a scan of which only MCU rows before `row_end` are decoded, from their points on.
  bool begin(const Header& header, Bytes file, SeekPoints points, std::uint32_t row_end);
  const McuPlan& plan() const { return plan_; }
  // After `begin`: blocks of the component get only their DC coefficients.
  void leave_ac_out(std::size_t component);

  // The first MCU.
  Place front() const;
  // The first MCU of a row.
  bool seek(std::uint32_t row, const SeekPoint& point, Place& place) const;
  // The point of a place at the first MCU of a row.
  bool point(Place& place, SeekPoint& point) const;

  // The next MCUs, at most kBatchMcus.
  bool decode(Place& place, std::size_t count, Batch& batch) const;
  bool skip(Place& place, std::uint64_t count) const;
  // The next MCUs of two places.
  bool decode(std::array<Place, 2>& places, std::size_t count, std::array<Batch, 2>& batches) const;

 private:
  bool prepare(const Header& header);
  bool choose_tables(const Header& header);
  void begin_interval(Place& place, std::size_t number) const;
  // Calls `run`(count) for parts without a restart in between.
  template <typename Run>
  bool in_intervals(Place& place, std::uint64_t count, const Run& run) const;
  bool restart_if_due(Place& place) const;

  TableCache<DcTable> dc_tables_;
  TableCache<AcTable> ac_tables_;
  McuPlan plan_;
  ScanBytes bytes_;
  bool restarts_ = false;
  std::uint32_t mcu_columns_ = 0;
  std::uint64_t mcus_ = 0;
  std::uint64_t interval_mcus_ = 0;  // between two restart markers
};

}  // namespace echoline::jpeg
