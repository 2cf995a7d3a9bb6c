// Whether users' code hangs while a few samples are tried.
#pragma once

#include <cstdint>

#include "augment/chain.h"

namespace echoline::augment {

// Counts from its construction: earlier samples say nothing about those that are tried now. The
// chain must outlive it.
class HangWatch {
 public:
  explicit HangWatch(const Chain& chain) : chain_(chain), before_(chain.given_up()) {}

  // The samples that were given up because calls exceeded `timeout`. Slow calls alone are none.
  std::uint64_t given_up() const { return chain_.given_up() - before_; }
  // Two of them: more tries could take hours.
  bool hangs() const { return given_up() >= 2; }

 private:
  const Chain& chain_;
  const std::uint64_t before_;
};

}  // namespace echoline::augment
