// Walks a lane's echo order row by row: the same results as EchoOrder::at, without its divisions.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/echo_order.h"
#include "plan/echo_pass.h"

namespace echoline::plan {

// One thread. The order must outlive it.
class EchoWalk {
 public:
  EchoWalk(const EchoOrder& order, std::uint64_t row);

  ItemUse next();

 private:
  // One pass of the current super-block and the walk's progress in it. `error` is the remainder of
  // place * rows / all: adding `rows` and comparing with `all` replaces the division.
  struct Track {
    std::uint64_t rows = 0;
    std::uint64_t all = 0;
    std::uint64_t error = 0;
    std::uint64_t taken = 0;
    EchoPass pass;
  };
  // Starts at row `place` of a super-block.
  void enter(std::uint64_t super_block, std::uint64_t place);
  bool takes(Track& track) const;

  const EchoOrder& order_;
  std::uint64_t super_block_ = 0;
  std::uint64_t left_ = 0;  // remaining rows of the super-block
  std::vector<Track> tracks_;
};

}  // namespace echoline::plan
