#include "plan/lanes.h"

#include "base/check.h"

namespace echoline::plan {

LaneGrid::LaneGrid(std::uint32_t chunk_rows, std::vector<std::uint64_t> lane_rows)
    : chunk_rows_(chunk_rows), lane_rows_(std::move(lane_rows)) {
  const auto [least, most] = std::minmax_element(lane_rows_.begin(), lane_rows_.end());
  const std::uint64_t even_rounds = *least / chunk_rows_;
  even_rows_ = even_rounds * chunk_rows_ * lane_rows_.size();
  rows_ = even_rows_;
  // Lanes differ in length only by a few rows, so this table is short.
  for (std::uint64_t start = even_rounds * chunk_rows_; start < *most; start += chunk_rows_) {
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
      if (lane_rows_[lane] <= start) continue;
      uneven_.push_back({rows_, {lane, start}});
      rows_ += std::min<std::uint64_t>(chunk_rows_, lane_rows_[lane] - start);
    }
  }
}

const LaneGrid::Chunk& LaneGrid::uneven_chunk(std::uint64_t row) const {
  const auto after =
      std::upper_bound(uneven_.begin(), uneven_.end(), row,
                       [](std::uint64_t wanted, const Chunk& chunk) { return wanted < chunk.row; });
  return *(after - 1);
}

LaneRow LaneGrid::locate(std::uint64_t row) const {
  ECHOLINE_CHECK(row < rows_);
  if (row < even_rows_) {
    const std::uint64_t chunk = row / chunk_rows_;
    return {static_cast<std::uint32_t>(chunk % lanes()),
            chunk / lanes() * chunk_rows_ + row % chunk_rows_};
  }
  const Chunk& chunk = uneven_chunk(row);
  return {chunk.start.lane, chunk.start.row + (row - chunk.row)};
}

std::uint64_t LaneGrid::row_of(const LaneRow& place) const {
  ECHOLINE_CHECK(place.lane < lanes() && place.row < lane_rows_[place.lane]);
  const std::uint64_t in_chunk = place.row % chunk_rows_;
  const std::uint64_t round_begin = (place.row - in_chunk) * lanes();
  if (round_begin < even_rows_) {
    return round_begin + std::uint64_t{place.lane} * chunk_rows_ + in_chunk;
  }
  // The chunks after the even rounds ascend by round, then by lane.
  const LaneRow start{place.lane, place.row - in_chunk};
  const auto chunk = std::lower_bound(
      uneven_.begin(), uneven_.end(), start, [](const Chunk& one, const LaneRow& wanted) {
        return one.start.row != wanted.row ? one.start.row < wanted.row
                                           : one.start.lane < wanted.lane;
      });
  return chunk->row + in_chunk;
}

std::uint64_t LaneGrid::run(std::uint64_t row) const {
  const LaneRow at = locate(row);
  const std::uint64_t to_border = chunk_rows_ - at.row % chunk_rows_;
  return std::min(to_border, lane_rows_[at.lane] - at.row);
}

std::uint64_t LaneGrid::lane_rows_before(std::uint64_t row, std::uint32_t lane) const {
  const std::uint64_t round_rows = std::uint64_t{chunk_rows_} * lanes();
  const std::uint64_t even = std::min(row, even_rows_);
  // In whole rounds the lane has chunk_rows_ rows each; in the last, partial round it has the part
  // of its chunk before `row`.
  const std::uint64_t lane_begin = std::uint64_t{lane} * chunk_rows_;
  const std::uint64_t in_round = even % round_rows;
  std::uint64_t before = even / round_rows * chunk_rows_ +
                         std::clamp<std::uint64_t>(in_round, lane_begin, lane_begin + chunk_rows_) -
                         lane_begin;
  for (const Chunk& chunk : uneven_) {
    if (chunk.row >= row) break;
    if (chunk.start.lane != lane) continue;
    const std::uint64_t length =
        std::min<std::uint64_t>(chunk_rows_, lane_rows_[lane] - chunk.start.row);
    before += std::min(length, row - chunk.row);
  }
  return before;
}

}  // namespace echoline::plan
