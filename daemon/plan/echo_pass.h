// One pass over one block of the echo step: the order of the items that have this use.
#pragma once

#include <cstdint>

#include "plan/echo_order.h"
#include "plan/permutation.h"

namespace echoline::plan {

// A value; const methods may be called by any thread.
class EchoPass {
 public:
  EchoPass() = default;
  EchoPass(const EchoOrder& order, std::uint64_t block, std::uint32_t pass);

  // Row `row` of the pass.
  ItemUse at(std::uint64_t row) const;

 private:
  // kWhole: all items of the block. kExtras: the items with an extra use. kExtrasFirst: all items,
  // those with an extra use first.
  enum class Kind : std::uint8_t { kWhole, kExtras, kExtrasFirst };

  // Number `nth` of the block's items with, and without, an extra use.
  std::uint64_t extra(std::uint64_t nth) const;
  std::uint64_t plain(std::uint64_t nth) const;
  ItemUse use_of(std::uint64_t item) const;

  Kind kind_ = Kind::kWhole;
  std::uint32_t pass_ = 0;
  EchoSegment segment_;
  std::uint64_t begin_ = 0;          // first item of the block
  std::uint64_t before_ = 0;         // items of the segment before the block
  std::uint64_t extras_before_ = 0;  // those of them with an extra use
  Permutation order_;                // of all rows, or of the extras
  Permutation plain_order_;          // under kExtrasFirst
};

}  // namespace echoline::plan
