// Walks over the MCUs of a scan: ITU-T T.81, E.2 (restart intervals, E.2.4) and F.2.1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/geometry.h"
#include "jpeg/huffman_table.h"
#include "jpeg/markers.h"
#include "jpeg/mcu.h"
#include "jpeg/scan_bytes.h"

namespace echoline::jpeg {

// Reused from scan to scan. Every function returns false at an anomaly of the data, or if asked for
// MCUs beyond the last one; the scan is over then.
class Scan {
 public:
  // The file of the header must stay valid while this is used.
  bool begin(const Header& header, Bytes file);
  const McuPlan& plan() const { return plan_; }

  // The next MCUs, at most kBatchMcus.
  bool decode(std::size_t count, Batch& batch);
  bool skip(std::uint64_t count);
  // All that are left.
  bool skip_rest() { return skip(mcus_left_); }

 private:
  bool choose_tables(const Header& header);
  void begin_interval(std::size_t number);
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
  std::uint64_t interval_mcus_ = 0;  // between two restart markers
  std::uint64_t left_in_interval_ = 0;
  std::size_t interval_ = 0;  // of bytes_
};

}  // namespace echoline::jpeg
