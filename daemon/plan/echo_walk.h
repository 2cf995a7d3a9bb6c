// Walks a lane's echo order row by row: the same answers as EchoOrder::at, without its divisions.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/echo_order.h"
#include "plan/echo_pass.h"

namespace echoline::plan {

// One thread. Keeps a reference to the order.
class EchoWalk {
 public:
  EchoWalk(const EchoOrder& order, std::uint64_t row);

  ItemUse next();

 private:
  // One pass of the present super-block and how far the walk is in it. `error` is what
  // place * rows / all leaves over: adding `rows` and comparing replaces the division.
  struct Track {
    std::uint64_t rows = 0;
    std::uint64_t all = 0;
    std::uint64_t error = 0;
    std::uint64_t taken = 0;
    EchoPass pass;
  };
  void enter(std::uint64_t super_block, std::uint64_t place);
  bool takes(Track& track) const;

  const EchoOrder& order_;
  std::uint64_t super_block_ = 0;
  std::uint64_t left_ = 0;  // rows of the super-block still to come
  std::vector<Track> tracks_;
};

}  // namespace echoline::plan
