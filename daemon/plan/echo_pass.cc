// Computes the n-th item with (or without) an extra use in closed form, so that a pass stores no
// list of items.
#include "plan/echo_pass.h"

namespace echoline::plan {

EchoPass::EchoPass(const EchoOrder& order, std::uint64_t block, std::uint32_t pass)
    : pass_(pass), segment_(order.segment_of(block)), begin_(order.blocks().begin(block)) {
  const std::uint64_t count = order.blocks().size(block);
  before_ = begin_ - segment_.first_item;
  extras_before_ = segment_.extras(before_);
  const std::uint64_t extras = segment_.extras(before_ + count) - extras_before_;
  // The fractional last pass of a block follows a super-block of other items, which keeps the two
  // uses of an item apart. After the epoch's last block no such super-block follows. So in that
  // block, the items with an extra use come first in the pass before.
  const bool last = block + 1 == order.shape().blocks;
  if (pass == segment_.whole) {
    kind_ = Kind::kExtras;
  } else if (last && pass + 1 == segment_.whole && segment_.fraction > 0) {
    kind_ = Kind::kExtrasFirst;
  }
  OrderUse use{.purpose = Purpose::kEcho,
               .epoch = order.lane().epoch,
               .lane = order.lane().lane,
               .block = block,
               .pass = pass};
  const OrderKey key = order_key(order.lane().seed, use);
  order_ = Permutation(kind_ == Kind::kWhole ? count : extras, key);
  if (kind_ == Kind::kExtrasFirst) {
    use.purpose = Purpose::kEchoPlain;
    plain_order_ = Permutation(count - extras, order_key(order.lane().seed, use));
  }
}

// Extra number n of the segment is the first item whose carry + (index + 1) * fraction reaches
// (n + 1) * 1000: the inverse of EchoSegment::extras.
std::uint64_t EchoPass::extra(std::uint64_t nth) const {
  const std::uint64_t reach = (extras_before_ + nth + 1) * 1000 - segment_.carry;
  return segment_.first_item + (reach + segment_.fraction - 1) / segment_.fraction - 1;
}

// The same for items without an extra use, which are the ones that do not reach the next 1000.
std::uint64_t EchoPass::plain(std::uint64_t nth) const {
  const std::uint64_t reach = (before_ - extras_before_ + nth) * 1000 + segment_.carry;
  return segment_.first_item + reach / (1000 - segment_.fraction);
}

ItemUse EchoPass::use_of(std::uint64_t item) const {
  return {item, pass_, segment_.whole + (segment_.has_extra(item) ? 1 : 0)};
}

ItemUse EchoPass::at(std::uint64_t row) const {
  switch (kind_) {
    case Kind::kExtras:
      return {extra(order_(row)), pass_, segment_.whole + 1};
    case Kind::kExtrasFirst: {
      const std::uint64_t extras = order_.count();
      if (row < extras) return {extra(order_(row)), pass_, segment_.whole + 1};
      return {plain(plain_order_(row - extras)), pass_, segment_.whole};
    }
    case Kind::kWhole:
      break;
  }
  return use_of(begin_ + order_(row));
}

}  // namespace echoline::plan
