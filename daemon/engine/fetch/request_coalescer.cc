#include "engine/fetch/request_coalescer.h"

#include <deque>
#include <iterator>
#include <utility>

namespace echoline::engine {

void RequestCoalescer::insert(std::int64_t number, FetchRequest request) {
  if (request.extent.bytes > 0) bytes_[request.item->epoch] += request.extent.bytes;
  request.fill = {};  // it is no longer being fetched
  const Location location{request.extent.shard, request.extent.offset};
  queue_.emplace(number, by_location_.emplace(location, Entry{number, std::move(request)}));
}

void RequestCoalescer::count_taken(const FetchRequest& request) {
  if (request.extent.bytes == 0) return;
  const auto epoch = bytes_.find(request.item->epoch);
  epoch->second -= request.extent.bytes;
  if (epoch->second == 0) bytes_.erase(epoch);
}

// Whether the record, before or after the span, may join its read.
bool RequestCoalescer::joins(const Span& span, const record::Extent& next, Span& joined) const {
  // The record does not overlap the span: take() skips those that do, and cut() gets none.
  const std::uint64_t end = next.offset + next.bytes;
  const std::uint64_t gap = next.offset >= span.end ? next.offset - span.end : span.begin - end;
  joined = {std::min(span.begin, next.offset), std::max(span.end, end), span.bytes_max,
            span.gaps + gap};
  const std::uint64_t bytes = joined.end - joined.begin;
  if (gap > kGapBytes || bytes > span.bytes_max) return false;
  // The share is of the whole read, so a long read may have more gaps than a short one.
  return !thrifty_ || gap == 0 || joined.gaps * kThriftyShare <= bytes;
}

RequestCoalescer::Reads RequestCoalescer::Reads::worth(std::size_t at_once, double latency_bytes) {
  const double together =
      std::max(static_cast<double>(kNearReads * kNearReadBytes), kLatencies * latency_bytes);
  const auto each =
      static_cast<std::uint64_t>(together / static_cast<double>(std::max<std::size_t>(at_once, 1)));
  return {.at_once = at_once, .bytes = std::max(kNearReadBytes, each)};
}

std::vector<FetchRequest> RequestCoalescer::take(const Reads& reads) {
  // The oldest request decides where the read is. A neighbour joins it if it was requested at
  // most `reach_` requests later, for the same epoch.
  const auto oldest = queue_.begin()->second;
  const std::uint32_t epoch = oldest->second.request.item->epoch;
  // Ascending by offset: the loop below adds records after it, the second one those before it.
  std::deque<Map::iterator> run{oldest};
  Span span{oldest->first.offset, end(oldest->second), request_bytes(epoch, reads)};
  const auto near = [&](const Entry& entry) {
    return entry.number - oldest->second.number <= reach_ && entry.request.item->epoch == epoch;
  };
  Span joined;
  // A second request for the same record (from the next epoch, or another pass) stays for a later
  // read, because destinations must not overlap. It does not end the run: reading ahead often spans
  // two epochs.
  for (auto next = std::next(oldest); next != by_location_.end(); ++next) {
    if (next->first.shard != oldest->first.shard) break;
    if (next->first.offset < span.end) continue;
    if (!joins(span, next->second.request.extent, joined)) break;
    // Not added, but the run goes on: the record's bytes count as a gap for the next one.
    if (!near(next->second)) continue;
    span = joined;
    run.push_back(next);
  }
  for (auto previous = oldest; previous != by_location_.begin();) {
    --previous;
    if (previous->first.shard != oldest->first.shard) break;
    if (end(previous->second) > span.begin) continue;
    if (!joins(span, previous->second.request.extent, joined)) break;
    if (!near(previous->second)) continue;
    span = joined;
    run.push_front(previous);
  }
  std::vector<FetchRequest> requests;
  requests.reserve(run.size());
  for (const auto entry : run) {
    queue_.erase(entry->second.number);
    count_taken(entry->second.request);
    requests.push_back(std::move(entry->second.request));
    by_location_.erase(entry);
  }
  return requests;
}

std::vector<std::vector<FetchRequest>> RequestCoalescer::cut(std::vector<FetchRequest> run) const {
  std::vector<std::vector<FetchRequest>> runs;
  Span span{};
  for (FetchRequest& request : run) {
    const record::Extent& extent = request.extent;
    Span joined;
    if (!runs.empty() && joins(span, extent, joined)) {
      span = joined;
    } else {
      // The upper bound, not request_bytes(): the run had a permitted length before records left
      // it.
      span = {extent.offset, extent.offset + extent.bytes, kRequestBytesMax};
      runs.emplace_back();
    }
    runs.back().push_back(std::move(request));
  }
  return runs;
}

}  // namespace echoline::engine
