#include "jpeg/scan.h"

#include <algorithm>

namespace echoline::jpeg {

bool Scan::prepare(const Header& header) {
  const Geometry geometry = geometry_of(header);
  restarts_ = header.restart_interval != 0;
  mcu_columns_ = geometry.mcu_columns;
  mcus_ = std::uint64_t{geometry.mcu_rows} * geometry.mcu_columns;
  interval_mcus_ = restarts_ ? header.restart_interval : mcus_;
  return choose_tables(header);
}

bool Scan::begin(const Header& header, Bytes file) {
  return prepare(header) && bytes_.load(file, header.scan_begin, restarts_);
}

bool Scan::begin(const Header& header, Bytes file, SeekPoints points, std::uint32_t row_end) {
  // A row ends where the next one begins, within the byte.
  const std::size_t enough =
      row_end < points.size() ? points[row_end].bit / 8 + std::size_t{1} : ScanBytes::kAll;
  return prepare(header) && bytes_.load(file, header.scan_begin, restarts_, enough);
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
    block.blocks_per_mcu = static_cast<std::uint8_t>(component.horizontal * component.vertical);
    for (std::size_t j = 0; j < block.blocks_per_mcu; ++j) {
      block.first = static_cast<std::uint8_t>(first + j);
      plan_.blocks[plan_.count++] = block;
    }
    first += block.blocks_per_mcu * kBatchMcus;
  }
  return true;
}

void Scan::leave_ac_out(std::size_t component) {
  for (McuBlock& block : plan_.blocks) block.dc_only |= block.component == component;
}

void Scan::begin_interval(Place& place, std::size_t number) const {
  place.interval = number;
  place.left_in_interval = interval_mcus_;
  place.state.bits = bits_from(bytes_.begin(number));
  place.state.end = bytes_.end(number);
  place.state.dc.fill(0);
}

Scan::Place Scan::front() const {
  Place place;
  place.mcus_left = mcus_;
  begin_interval(place, 0);
  return place;
}

bool Scan::seek(std::uint32_t row, const SeekPoint& point, Place& place) const {
  const std::uint64_t mcu = std::uint64_t{row} * mcu_columns_;
  const std::uint64_t interval = mcu / interval_mcus_;
  // Readers may go beyond the end, but must not begin there.
  if (interval >= bytes_.interval_count() || point.bit / 8 >= bytes_.size()) return false;
  place.mcus_left = mcus_ - mcu;
  place.interval = interval;
  place.left_in_interval = interval_mcus_ - mcu % interval_mcus_;
  place.state.bits = bits_from(bytes_.begin() + point.bit / 8, point.bit % 8);
  place.state.end = bytes_.end(interval);
  std::ranges::copy(point.dc, place.state.dc.begin());
  return true;
}

bool Scan::point(Place& place, SeekPoint& point) const {
  if (!restart_if_due(place)) return false;
  const std::uint64_t bit = place.state.bits.bits_after(bytes_.begin());
  point.bit = static_cast<std::uint32_t>(bit);
  for (std::size_t i = 0; i < kComponentsMax; ++i) {
    point.dc[i] = static_cast<std::int16_t>(place.state.dc[i]);
  }
  return bit == point.bit;
}

// An interval ends with less than a byte of padding.
bool Scan::restart_if_due(Place& place) const {
  if (place.left_in_interval != 0) return true;
  if (place.state.bits.unused() != place.state.end) return false;
  if (place.interval + 1 >= bytes_.interval_count()) return false;
  begin_interval(place, place.interval + 1);
  return true;
}

template <typename Run>
bool Scan::in_intervals(Place& place, std::uint64_t count, const Run& run) const {
  if (count > place.mcus_left) return false;
  place.mcus_left -= count;
  while (count > 0) {
    if (!restart_if_due(place)) return false;
    const std::uint64_t part = std::min(count, place.left_in_interval);
    if (!run(static_cast<std::size_t>(part))) return false;
    place.left_in_interval -= part;
    count -= part;
  }
  return true;
}

bool Scan::decode(Place& place, std::size_t count, Batch& batch) const {
  std::size_t first = 0;
  return in_intervals(place, count, [&](std::size_t part) {
    const bool good = decode_mcus(plan_, place.state, first, part, batch);
    first += part;
    return good;
  });
}

bool Scan::decode(std::array<Place, 2>& places, std::size_t count,
                  std::array<Batch, 2>& batches) const {
  // Where a restart is due at one place, it may not be at the other. The loop for two decodes all
  // coefficients; of chroma, they are left out only where those of luma are, block 0.
  if (restarts_ || plan_.blocks[0].dc_only) {
    return decode(places[0], count, batches[0]) && decode(places[1], count, batches[1]);
  }
  for (Place& place : places) {
    if (count > place.mcus_left) return false;
    place.mcus_left -= count;
    place.left_in_interval -= count;
  }
  return decode_two_mcus(plan_, {&places[0].state, &places[1].state}, count, batches);
}

bool Scan::skip(Place& place, std::uint64_t count) const {
  return in_intervals(place, count,
                      [&](std::size_t part) { return skip_mcus(plan_, place.state, part); });
}

}  // namespace echoline::jpeg
