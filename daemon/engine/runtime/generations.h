// Streams may follow each other under one name: which of them is meant by what is said late.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace echoline::engine {

// Not thread safe.
class Generations {
 public:
  // Of the stream that has the name from now on, until end().
  std::uint64_t begin(const std::string& name) { return current_[name] = ++last_; }
  void end(const std::string& name) { current_.erase(name); }

  // 0 where no stream has the name.
  std::uint64_t of(const std::string& name) const {
    const auto found = current_.find(name);
    return found == current_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, std::uint64_t> current_;
  std::uint64_t last_ = 0;
};

}  // namespace echoline::engine
