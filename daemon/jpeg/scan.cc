#include "jpeg/scan.h"

#include <algorithm>

namespace echoline::jpeg {
namespace {

// The largest prediction that a component can have after so many blocks. With it, sums of DC
// differences stay below 2^31, because a scan has less than 2^20 blocks (markers.cc).
constexpr std::int64_t largest_dc(std::uint64_t blocks) {
  return static_cast<std::int64_t>(blocks) * ((1 << kDcSizeMax) - 1);
}

}  // namespace

bool Scan::begin(const Header& header, Bytes file) {
  return choose_tables(header) && load(header, file, header.scan_begin, 0);
}

bool Scan::begin_at(const Header& header, Bytes file, std::uint32_t mcu_row,
                    const ScanPoint& point) {
  const Geometry geometry = geometry_of(header);
  if (mcu_row >= geometry.mcu_rows || point.position.bit >= 8) return false;
  if (point.position.byte < header.scan_begin || point.position.byte >= file.size()) return false;
  const std::uint64_t done = std::uint64_t{mcu_row} * geometry.mcu_columns;
  for (std::size_t i = 0; i < kComponentsMax; ++i) {
    const Component& component = header.components[i];
    const std::int64_t most = largest_dc(done * component.horizontal * component.vertical);
    if (point.dc[i] < -most || point.dc[i] > most) return false;
  }
  if (!choose_tables(header)) return false;
  if (!load(header, file, point.position.byte, done)) return false;
  state_.bits = bits_from(bytes_.begin(0), point.position.bit);
  state_.dc = point.dc;
  return true;
}

// Blocks of an MCU: all of luma, row by row, then one of each chroma component (A.2.3). In a batch,
// each component has its blocks together.
bool Scan::choose_tables(const Header& header) {
  plan_.count = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < header.component_count; ++i) {
    const Component& component = header.components[i];
    McuBlock block;
    block.dc = dc_tables_.find(header.dc[component.dc_table]);
    block.ac = ac_tables_.find(header.ac[component.ac_table]);
    if (block.dc == nullptr || block.ac == nullptr) return false;
    block.component = static_cast<std::uint8_t>(i);
    block.step = static_cast<std::uint8_t>(component.horizontal * component.vertical);
    for (std::size_t j = 0; j < block.step; ++j) {
      block.first = static_cast<std::uint8_t>(first + j);
      plan_.blocks[plan_.count++] = block;
    }
    first += block.step * kBatchMcus;
  }
  return true;
}

bool Scan::load(const Header& header, Bytes file, std::size_t offset, std::uint64_t mcus_done) {
  const Geometry geometry = geometry_of(header);
  restart_interval_ = header.restart_interval;
  mcus_left_ = std::uint64_t{geometry.mcu_rows} * geometry.mcu_columns - mcus_done;
  unsigned restart = ScanBytes::kNoRestarts;
  if (restart_interval_ != 0) restart = static_cast<unsigned>(mcus_done / restart_interval_ % 8);
  if (!bytes_.load(file, offset, restart)) return false;
  interval_ = 0;
  left_in_interval_ = restart_interval_;
  if (restart_interval_ != 0) left_in_interval_ -= mcus_done % restart_interval_;
  begin_interval();
  return true;
}

void Scan::begin_interval() {
  state_.bits = bits_from(bytes_.begin(interval_), 0);
  state_.end = bytes_.end(interval_);
  state_.dc.fill(0);
}

// An interval ends with less than a byte of padding.
bool Scan::restart_if_due() {
  if (restart_interval_ == 0 || left_in_interval_ != 0) return true;
  if (state_.bits.unused() != state_.end) return false;
  if (++interval_ >= bytes_.interval_count()) return false;
  left_in_interval_ = restart_interval_;
  begin_interval();
  return true;
}

bool Scan::point(ScanPoint& point) {
  if (mcus_left_ == 0 || !restart_if_due()) return false;
  point.position = bytes_.position_of(state_.bits.byte(), state_.bits.bit());
  point.dc = state_.dc;
  return true;
}

template <typename Run>
bool Scan::in_intervals(std::uint64_t count, const Run& run) {
  if (count > mcus_left_) return false;
  mcus_left_ -= count;
  while (count > 0) {
    if (!restart_if_due()) return false;
    const std::uint64_t part = restart_interval_ == 0 ? count : std::min(count, left_in_interval_);
    if (!run(static_cast<std::size_t>(part))) return false;
    left_in_interval_ -= restart_interval_ == 0 ? 0 : part;
    count -= part;
  }
  return true;
}

bool Scan::decode(std::size_t count, Batch& batch) {
  std::size_t first = 0;
  return in_intervals(count, [&](std::size_t part) {
    const bool good = decode_mcus(plan_, state_, first, part, batch);
    first += part;
    return good;
  });
}

bool Scan::skip(std::uint64_t count) {
  return in_intervals(count, [&](std::size_t part) { return skip_mcus(plan_, state_, part); });
}

}  // namespace echoline::jpeg
