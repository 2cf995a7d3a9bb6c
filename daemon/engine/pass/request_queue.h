// The requests of a pass on their way to the fetchers.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/fetch/fetchers.h"
#include "engine/fetch/request_coalescer.h"

namespace echoline::engine {

// A request is postponed until there is room for its bytes, then ready until it is sent. Neighbours
// of a shard share a read if they are sent together. Called by the pass's thread.
class RequestQueue {
 public:
  explicit RequestQueue(Fetchers& fetchers) : fetchers_(fetchers) {}

  // The window of the shuffle that a record is in.
  struct ShuffleWindow {
    std::uint32_t epoch = 0;
    std::uint32_t number = 0;
    auto operator<=>(const ShuffleWindow&) const = default;
  };

  void postpone(FetchRequest request, ShuffleWindow window) {
    postponed_.push_back({std::move(request), window});
  }
  bool has_postponed() const { return !postponed_.empty(); }
  // The next postponed one.
  const FetchRequest& next() const { return postponed_.front().request; }
  // It is of a later window than all requests that were ready or sent.
  bool next_begins_window() const { return postponed_.front().window > latest_window_; }
  // It is ready.
  void make_ready();
  std::size_t ready() const { return ready_.size(); }

  // Sends the ready requests.
  void send();
  // Sends the ready requests in the order of their shards, window by window. `more_come`: those of
  // the latest window wait for the rest of it.
  void send_windows(bool more_come);
  // Sends the ready requests if there can be some of this window, or of an earlier one.
  void send_up_to(ShuffleWindow window);
  // Drops the postponed requests and returns their items. All others are sent.
  std::unordered_set<const echo::Item*> drop_postponed();
  // Sends the postponed requests whose item somebody else holds, too, and drops the others.
  void send_shared();
  void clear();

 private:
  struct Entry {
    FetchRequest request;
    ShuffleWindow window;
  };

  Fetchers& fetchers_;
  std::deque<Entry> postponed_;
  std::vector<Entry> ready_;
  ShuffleWindow latest_window_;  // of all requests that were ready or sent
};

}  // namespace echoline::engine
