// Tells streams apart that have the same name one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace echoline::engine {

// A message from another thread may arrive after its stream was deleted and a new one took the
// name. It carries the generation of its stream, and is dropped if that is not the present one.
// Not thread safe.
class Generations {
 public:
  // The generation of the stream that takes the name; it holds until end().
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
