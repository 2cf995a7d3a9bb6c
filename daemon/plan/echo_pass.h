// One pass over one block of the echo step: in which order the items that have this use come.
#pragma once

#include <cstdint>

#include "plan/echo_order.h"
#include "plan/permutation.h"

namespace echoline::plan {

// A value; any thread.
class EchoPass {
 public:
  EchoPass() = default;
  EchoPass(const EchoOrder& order, std::uint64_t block, std::uint32_t pass);

  // The pass's row `row`.
  ItemUse at(std::uint64_t row) const;

 private:
  // Every item of the block; those that have an extra use; every item, those with an extra use
  // first.
  enum class Kind : std::uint8_t { kWhole, kExtras, kExtrasFirst };

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
