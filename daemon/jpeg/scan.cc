#include "jpeg/scan.h"

#include <algorithm>

namespace echoline::jpeg {
bool Scan::begin(const Header& header, Bytes file) {
  if (!choose_tables(header)) return false;
  const bool restarts = header.restart_interval != 0;
  if (!bytes_.load(file, header.scan_begin, restarts)) return false;
  const Geometry geometry = geometry_of(header);
  mcus_left_ = std::uint64_t{geometry.mcu_rows} * geometry.mcu_columns;
  interval_mcus_ = restarts ? header.restart_interval : mcus_left_;
  begin_interval(0);
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

void Scan::begin_interval(std::size_t number) {
  interval_ = number;
  left_in_interval_ = interval_mcus_;
  state_.bits = bits_from(bytes_.begin(number));
  state_.end = bytes_.end(number);
  state_.dc.fill(0);
}

// An interval ends with less than a byte of padding.
bool Scan::restart_if_due() {
  if (left_in_interval_ != 0) return true;
  if (state_.bits.unused() != state_.end) return false;
  if (interval_ + 1 >= bytes_.interval_count()) return false;
  begin_interval(interval_ + 1);
  return true;
}

template <typename Run>
bool Scan::in_intervals(std::uint64_t count, const Run& run) {
  if (count > mcus_left_) return false;
  mcus_left_ -= count;
  while (count > 0) {
    if (!restart_if_due()) return false;
    const std::uint64_t part = std::min(count, left_in_interval_);
    if (!run(static_cast<std::size_t>(part))) return false;
    left_in_interval_ -= part;
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
