// Where each of several parts begins in the sequence of all their elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace echoline {

// Parts are added in their order. A const one may be used by any thread.
class PartStarts {
 public:
  void add(std::uint64_t elements) { first_.push_back(first_.back() + elements); }
  std::uint64_t total() const { return first_.back(); }
  // The first element of a part.
  std::uint64_t of(std::size_t part) const { return first_[part]; }
  std::uint64_t count(std::size_t part) const { return first_[part + 1] - first_[part]; }
  // The part that has an element below total(). Parts without elements have none.
  std::size_t part_of(std::uint64_t element) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_, element) - first_.begin()) - 1;
  }

 private:
  std::vector<std::uint64_t> first_{0};  // of each part, and the total
};

}  // namespace echoline
