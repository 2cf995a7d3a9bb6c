#include "engine/fetch/request_coalescer.h"

#include <deque>
#include <iterator>
#include <utility>

namespace echoline::engine {

void RequestCoalescer::insert(std::int64_t number, FetchRequest order) {
  bytes_ += order.extent.bytes;
  order.fill = {};  // no longer on its way
  const Place place{order.extent.shard, order.extent.offset};
  queue_.emplace(number, places_.emplace(place, Entry{number, std::move(order)}));
}

// Whether the record, before or behind the span, may come with its request.
bool RequestCoalescer::joins(const Span& span, const record::Extent& next, Span& joined) const {
  const std::uint64_t end = next.offset + next.bytes;
  const std::uint64_t gap = next.offset >= span.end ? next.offset - span.end : span.begin - end;
  joined = {std::min(span.begin, next.offset), std::max(span.end, end), span.longest,
            span.gaps + gap};
  const std::uint64_t bytes = joined.end - joined.begin;
  if (gap > kGapBytes || bytes > span.longest) return false;
  return !thrifty_ || gap == 0 || joined.gaps * kThriftyShare <= bytes;
}

std::vector<FetchRequest> RequestCoalescer::take(std::size_t at_once) {
  const auto oldest = queue_.begin()->second;
  std::deque<Map::iterator> run{oldest};
  Span span{oldest->first.offset, end(oldest->second), request_bytes(at_once)};
  const auto near = [&](const Entry& entry) {
    return entry.number - oldest->second.number <= reach_;
  };
  Span joined;
  // A second order for the same record (of the next epoch, or another pass) stays for later:
  // destinations must not overlap. Look-ahead often spans two epochs, so it must not end the run.
  for (auto next = std::next(oldest); next != places_.end(); ++next) {
    if (next->first.shard != oldest->first.shard) break;
    if (next->first.offset < span.end) continue;
    if (!joins(span, next->second.order.extent, joined)) break;
    if (!near(next->second)) continue;
    span = joined;
    run.push_back(next);
  }
  for (auto previous = oldest; previous != places_.begin();) {
    --previous;
    if (previous->first.shard != oldest->first.shard) break;
    if (end(previous->second) > span.begin) continue;
    if (!joins(span, previous->second.order.extent, joined)) break;
    if (!near(previous->second)) continue;
    span = joined;
    run.push_front(previous);
  }
  std::vector<FetchRequest> orders;
  orders.reserve(run.size());
  for (const auto entry : run) {
    queue_.erase(entry->second.number);
    bytes_ -= entry->second.order.extent.bytes;
    orders.push_back(std::move(entry->second.order));
    places_.erase(entry);
  }
  return orders;
}

std::vector<std::vector<FetchRequest>> RequestCoalescer::cut(std::vector<FetchRequest> run) const {
  std::vector<std::vector<FetchRequest>> runs;
  Span span{};
  for (FetchRequest& order : run) {
    const record::Extent& extent = order.extent;
    Span joined;
    if (!runs.empty() && joins(span, extent, joined)) {
      span = joined;
    } else {
      span = {extent.offset, extent.offset + extent.bytes, kRequestBytesMax};
      runs.emplace_back();
    }
    runs.back().push_back(std::move(order));
  }
  return runs;
}

}  // namespace echoline::engine
