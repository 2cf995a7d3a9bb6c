#include "engine/pass/request_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace echoline::engine {
namespace {

// Requests that wait for the rest of their window, at most.
constexpr std::size_t kIncompleteMax = 1 << 16;

}  // namespace

void RequestQueue::make_ready() {
  latest_window_ = std::max(latest_window_, postponed_.front().window);
  ready_.push_back(std::move(postponed_.front()));
  postponed_.pop_front();
}

void RequestQueue::send() {
  if (ready_.empty()) return;
  std::vector<FetchRequest> requests;
  requests.reserve(ready_.size());
  for (Entry& entry : ready_) requests.push_back(std::move(entry.request));
  ready_.clear();
  fetchers_.request(std::move(requests));
}

void RequestQueue::send_windows(bool more_come) {
  // Each batch of a window needs records from nearly all reads of it, so the order of its rows
  // would bring none of them sooner.
  std::ranges::sort(ready_, {}, [](const Entry& entry) {
    const record::Extent& extent = entry.request.extent;
    return std::tuple(entry.window, extent.shard, extent.offset);
  });
  const bool waits = more_come && ready_.size() < kIncompleteMax;
  const auto end = waits ? std::ranges::find(ready_, latest_window_, &Entry::window) : ready_.end();
  std::vector<Entry> incomplete(std::make_move_iterator(end),
                                std::make_move_iterator(ready_.end()));
  ready_.erase(end, ready_.end());
  send();
  ready_ = std::move(incomplete);
}

std::unordered_set<const echo::Item*> RequestQueue::drop_postponed() {
  send();
  std::unordered_set<const echo::Item*> dropped;
  for (const Entry& entry : postponed_) dropped.insert(entry.request.item.get());
  postponed_.clear();
  return dropped;
}

void RequestQueue::send_shared() {
  for (Entry& entry : postponed_) {
    if (entry.request.item.use_count() > 1) ready_.push_back(std::move(entry));
  }
  postponed_.clear();
  send();
}

void RequestQueue::clear() {
  postponed_.clear();
  ready_.clear();
}

}  // namespace echoline::engine
