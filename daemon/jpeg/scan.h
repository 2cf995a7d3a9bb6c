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

namespace echoline::jpeg {

// All that the decoder needs to begin at an MCU row.
struct ScanPoint {
  BitPosition position;  // in the file
  std::array<std::int32_t, kComponentsMax> dc{};

  bool operator==(const ScanPoint&) const = default;
};

// Reused from scan to scan. Every function returns false at an anomaly of the data, or if asked for
// MCUs beyond the last one; the scan is over then.
class Scan {
 public:
  // The file of the header must stay valid while this is used.
  bool begin(const Header& header, Bytes file);
  // Begins at an MCU row. A wrong point gives wrong coefficients or an anomaly, and nothing worse.
  bool begin_at(const Header& header, Bytes file, std::uint32_t mcu_row, const ScanPoint& point);

  const McuPlan& plan() const { return plan_; }
  // The point of the next MCU, which must be the first one of a row.
  bool point(ScanPoint& point);

  // The next MCUs, at most kBatchMcus.
  bool decode(std::size_t count, Batch& batch);
  bool skip(std::uint64_t count);
  // All that are left.
  bool skip_rest() { return skip(mcus_left_); }

 private:
  bool choose_tables(const Header& header);
  bool load(const Header& header, Bytes file, std::size_t offset, std::uint64_t mcus_done);
  void begin_interval();
  // Calls `run`(count) for parts without a restart in between.
  template <typename Run>
  bool in_intervals(std::uint64_t count, const Run& run);
  bool restart_if_due();

  TableCache<DcTable> dc_tables_;
  TableCache<AcTable> ac_tables_;
  McuPlan plan_;
  ScanBytes bytes_;
  EntropyState state_;
  std::uint64_t mcus_left_ = 0;
  std::uint64_t restart_interval_ = 0;  // 0: none
  std::uint64_t left_in_interval_ = 0;
  std::size_t interval_ = 0;  // of bytes_
};

}  // namespace echoline::jpeg
