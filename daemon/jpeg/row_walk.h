// Walks over the MCU rows of a scan that a decoder wants: from the first row on, or from seek
// points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jpeg/geometry.h"
#include "jpeg/markers.h"
#include "jpeg/mcu.h"
#include "jpeg/scan.h"
#include "jpeg/seek_point.h"

namespace echoline::jpeg {

// Reused from scan to scan. In this order: `begin`; for each row or pair of rows `begin_rows`,
// `decode` and `end_rows`; `finish`. After a false, or 0, the scan is over.
class RowWalk {
 public:
  // The MCU rows and columns that are wanted.
  struct Part {
    std::uint32_t row = 0;
    std::uint32_t row_end = 0;
    std::uint32_t left = 0;
    std::uint32_t columns = 0;
  };
  static constexpr std::uint32_t kRowsAtOnce = 2;

  // Header, file and points must stay valid until `finish`. Without points, all of the scan is
  // read. With them only the rows of the part, from `left` to its last column.
  bool begin(const Header& header, Bytes file, SeekPoints points, const Part& part);
  // After `begin`: as Scan's.
  void leave_ac_out(std::size_t component) { scan_.leave_ac_out(component); }
  // Goes to the first wanted column of the next row or, with points, of the next two. Returns how
  // many these are.
  std::uint32_t begin_rows();
  // The next MCUs of each, at most kBatchMcus.
  bool decode(std::size_t count, std::array<Batch, kRowsAtOnce>& batches);
  bool end_rows();
  // Reads the rest of the scan; not with points, because it is known to be good.
  bool finish();
  // After `finish`: the points of the scan. Empty if it has used points, or cannot have any.
  SeekPoints found() const { return found_; }

 private:
  // Skips the rows before `end`.
  bool skip_rows(std::uint32_t end);
  void note_point();

  Scan scan_;
  SeekPoints points_;
  Part part_;
  std::uint32_t mcu_columns_ = 0;
  std::uint32_t mcu_rows_ = 0;
  std::uint32_t row_ = 0;                        // the next one
  std::uint32_t begun_ = 0;                      // rows that are not ended yet
  std::array<Scan::Place, kRowsAtOnce> places_;  // of these, or of the next row
  std::vector<SeekPoint> found_;                 // of the rows before the next one
};

}  // namespace echoline::jpeg
