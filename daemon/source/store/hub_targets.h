// The addresses at which the Hub's storage has the bytes of files: a redirect gives one for about
// an hour, and each request to the Hub itself counts against its rate limit.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>

namespace echoline::source {

// One thread. Holds at most kTargetsMax addresses; the oldest is dropped for a new one.
class HubTargets {
 public:
  // About 2 KiB each: a signature is long.
  static constexpr std::size_t kTargetsMax = 8192;

  // Null if the Hub itself has to be asked.
  const std::string* find(const std::string& file) const {
    const auto found = targets_.find(file);
    return found == targets_.end() || found->second.empty() ? nullptr : &found->second;
  }

  void put(const std::string& file, std::string target) {
    const auto [at, is_new] = targets_.try_emplace(file);
    at->second = std::move(target);
    if (!is_new) return;
    order_.push_back(file);
    if (order_.size() <= kTargetsMax) return;
    targets_.erase(order_.front());
    order_.pop_front();
  }

  // It was refused. A newer one stays, which another request has got meanwhile.
  void drop(const std::string& file, const std::string& target) {
    const auto found = targets_.find(file);
    // The entry keeps its place in the order.
    if (found != targets_.end() && found->second == target) found->second.clear();
  }

  std::size_t size() const { return order_.size(); }

 private:
  std::unordered_map<std::string, std::string> targets_;  // empty: dropped
  std::deque<std::string> order_;                         // the keys, oldest first
};

}  // namespace echoline::source
