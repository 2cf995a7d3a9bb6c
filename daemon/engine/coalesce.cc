#include "engine/coalesce.h"

#include <iterator>
#include <utility>

namespace echoline::engine {

void OrderBook::insert(std::int64_t number, Order order) {
  const Place place{order.extent.shard, order.extent.offset};
  queue_.emplace(number, places_.emplace(place, Entry{number, std::move(order)}));
}

std::vector<Order> OrderBook::take() {
  const auto oldest = queue_.begin()->second;
  auto first = oldest;
  auto last = oldest;
  std::uint64_t begin = oldest->first.offset;
  std::uint64_t finish = end(oldest->second);
  const auto joins = [&](std::uint64_t from, std::uint64_t to, std::uint64_t gap) {
    return gap <= kGapBytes && to - from <= kRequestBytes;
  };
  // A second order for the same record (another pass) does not join: destinations must not overlap.
  while (std::next(last) != places_.end()) {
    const auto next = std::next(last);
    if (next->first.shard != oldest->first.shard || next->first.offset < finish) break;
    if (!joins(begin, end(next->second), next->first.offset - finish)) break;
    finish = end(next->second);
    last = next;
  }
  while (first != places_.begin()) {
    const auto previous = std::prev(first);
    if (previous->first.shard != oldest->first.shard || end(previous->second) > begin) break;
    if (!joins(previous->first.offset, finish, begin - end(previous->second))) break;
    begin = previous->first.offset;
    first = previous;
  }
  std::vector<Order> orders;
  for (auto entry = first; entry != std::next(last);) {
    queue_.erase(entry->second.number);
    orders.push_back(std::move(entry->second.order));
    const bool was_last = entry == last;
    entry = places_.erase(entry);
    if (was_last) break;
  }
  return orders;
}

}  // namespace echoline::engine
