// Mixes the passes with error accumulators, as Bresenham's line algorithm does: the same result as
// taken_evenly, without a division per row.
#include "plan/echo_walk.h"

#include "base/check.h"
#include "plan/interleave.h"

namespace echoline::plan {

EchoWalk::EchoWalk(const EchoOrder& order, std::uint64_t row) : order_(order) {
  if (row >= order.rows()) return;
  const std::uint64_t super_block = order.super_block_of(row);
  enter(super_block, row - order.super_block_begin(super_block));
}

void EchoWalk::enter(std::uint64_t super_block, std::uint64_t place) {
  ECHOLINE_CHECK(super_block < order_.shape().super_blocks());
  super_block_ = super_block;
  tracks_.clear();
  std::uint64_t rest = 0;
  for (std::uint32_t pass = 0; pass < order_.shape().passes; ++pass) {
    const std::uint64_t rows = order_.pass_rows(super_block, pass);
    if (rows == 0) continue;
    rest += rows;
    tracks_.push_back(
        {.rows = rows, .pass = EchoPass(order_, order_.pass_block(super_block, pass), pass)});
  }
  left_ = rest - place;
  for (Track& track : tracks_) {
    track.all = rest;
    if (order_.shape().stride == 0) {
      track.taken = taken_in_turn(place, track.rows).before;
    } else {
      const Quotient quotient = multiply_divide(place, track.rows, rest);
      track.taken = quotient.whole;
      track.error = quotient.rest;
    }
    place -= track.taken;
    rest -= track.rows;
  }
}

// Whether the next row belongs to this track; the tracks before it have refused it.
bool EchoWalk::takes(Track& track) const {
  if (order_.shape().stride == 0) return track.taken < track.rows;
  track.error += track.rows;
  if (track.error < track.all) return false;
  track.error -= track.all;
  return true;
}

ItemUse EchoWalk::next() {
  while (left_ == 0) enter(super_block_ + 1, 0);
  --left_;
  auto track = tracks_.begin();
  while (!takes(*track)) ++track;
  return track->pass.at(track->taken++);
}

}  // namespace echoline::plan
