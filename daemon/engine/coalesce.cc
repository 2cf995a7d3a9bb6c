#include "engine/coalesce.h"

#include <deque>
#include <iterator>
#include <utility>

namespace echoline::engine {

void OrderBook::insert(std::int64_t number, Order order) {
  bytes_ += order.extent.bytes;
  const Place place{order.extent.shard, order.extent.offset};
  queue_.emplace(number, places_.emplace(place, Entry{number, std::move(order)}));
}

std::vector<Order> OrderBook::take() {
  const auto oldest = queue_.begin()->second;
  std::deque<Map::iterator> run{oldest};
  std::uint64_t begin = oldest->first.offset;
  std::uint64_t finish = end(oldest->second);
  const std::uint64_t longest = request_bytes();
  const auto joins = [&](std::uint64_t from, std::uint64_t to, std::uint64_t gap) {
    return gap <= kGapBytes && to - from <= longest;
  };
  const auto near = [&](const Entry& entry) {
    return entry.number - oldest->second.number <= reach_;
  };
  // A second order for the same record (of the next epoch, or another pass) stays for later:
  // destinations must not overlap. Look-ahead often spans two epochs, so it must not end the run.
  for (auto next = std::next(oldest); next != places_.end(); ++next) {
    if (next->first.shard != oldest->first.shard) break;
    if (next->first.offset < finish) continue;
    if (!joins(begin, end(next->second), next->first.offset - finish)) break;
    if (!near(next->second)) continue;
    finish = end(next->second);
    run.push_back(next);
  }
  for (auto previous = oldest; previous != places_.begin();) {
    --previous;
    if (previous->first.shard != oldest->first.shard) break;
    if (end(previous->second) > begin) continue;
    if (!joins(previous->first.offset, finish, begin - end(previous->second))) break;
    if (!near(previous->second)) continue;
    begin = previous->first.offset;
    run.push_front(previous);
  }
  std::vector<Order> orders;
  orders.reserve(run.size());
  for (const auto entry : run) {
    queue_.erase(entry->second.number);
    bytes_ -= entry->second.order.extent.bytes;
    orders.push_back(std::move(entry->second.order));
    places_.erase(entry);
  }
  return orders;
}

}  // namespace echoline::engine
