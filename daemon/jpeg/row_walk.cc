#include "jpeg/row_walk.h"

#include <algorithm>

namespace echoline::jpeg {

bool RowWalk::begin(const Header& header, Bytes file, SeekPoints points, const Part& part) {
  const Geometry geometry = geometry_of(header);
  points_ = points;
  part_ = part;
  mcu_columns_ = geometry.mcu_columns;
  mcu_rows_ = geometry.mcu_rows;
  found_.clear();
  if (!points.empty()) {
    row_ = part.row;
    return points.size() == mcu_rows_ && scan_.begin(header, file, points, part.row_end);
  }
  row_ = 0;
  if (!scan_.begin(header, file)) return false;
  places_[0] = scan_.front();
  return skip_rows(part.row);
}

std::uint32_t RowWalk::begin_rows() {
  begun_ = points_.empty() ? 1 : std::min(kRowsAtOnce, part_.row_end - row_);
  if (points_.empty()) note_point();
  for (std::uint32_t i = 0; i < begun_; ++i) {
    const std::uint32_t row = row_ + i;
    if (!points_.empty() && !scan_.seek(row, points_[row], places_[i])) return 0;
    if (!scan_.skip(places_[i], part_.left)) return 0;
  }
  return begun_;
}

bool RowWalk::decode(std::size_t count, std::array<Batch, kRowsAtOnce>& batches) {
  return begun_ == 1 ? scan_.decode(places_[0], count, batches[0])
                     : scan_.decode(places_, count, batches);
}

bool RowWalk::end_rows() {
  row_ += begun_;
  return !points_.empty() || scan_.skip(places_[0], mcu_columns_ - part_.left - part_.columns);
}

bool RowWalk::finish() {
  if (!points_.empty()) return true;
  if (!skip_rows(mcu_rows_)) return false;
  if (found_.size() != mcu_rows_) found_.clear();
  return true;
}

bool RowWalk::skip_rows(std::uint32_t end) {
  for (; row_ < end; ++row_) {
    note_point();
    if (!scan_.skip(places_[0], mcu_columns_)) return false;
  }
  return true;
}

// If this fails, decoding the row fails too, or there will be too few points, and finish() drops
// them.
void RowWalk::note_point() {
  SeekPoint point;
  if (scan_.point(places_[0], point)) found_.push_back(point);
}

}  // namespace echoline::jpeg
