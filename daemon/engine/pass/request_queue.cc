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
  std::vector<Entry> incomplete;
  if (more_come && ready_.size() < kIncompleteMax) {
    const auto of_latest = std::partition(ready_.begin(), ready_.end(), [&](const Entry& entry) {
      return entry.window != latest_window_;
    });
    incomplete.assign(std::make_move_iterator(of_latest), std::make_move_iterator(ready_.end()));
    ready_.erase(of_latest, ready_.end());
  }
  // A batch needs records from a large share of its window's reads (shuffle_window_bytes), so the
  // order of its rows would bring it little sooner.
  std::ranges::sort(ready_, {}, [](const Entry& entry) {
    const record::Extent& extent = entry.request.extent;
    return std::tuple(entry.window, extent.shard, extent.offset);
  });
  send();
  ready_ = std::move(incomplete);
}

void RequestQueue::send_up_to(ShuffleWindow window) {
  // What send_windows() has left is of the latest window.
  if (window >= latest_window_) send();
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
