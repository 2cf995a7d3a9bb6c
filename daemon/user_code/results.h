// The samples that one exchange with a worker has, and what comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "user_code/function.h"
#include "user_code/message.h"

namespace echoline::user_code {

// How many of these samples, the first ones, one exchange may have. At least one, also if it needs
// more memory than there is.
std::size_t samples_together(const Function& function, std::span<const SampleCall> samples);

// Takes results out of the memory that a worker can write. Immutable.
class Results {
 public:
  // `function` must outlive it.
  explicit Results(const Function& function);

  // Fills the results of all samples of the reply, the first of `samples`, if they are right.
  // Returns their number.
  Result<std::size_t> take(const Reply& reply, std::span<const std::byte> area,
                           std::span<const SampleCall> samples) const;

 private:
  Status take_one(const ArrayPlace& place, std::span<const std::byte> area,
                  const SampleCall& sample, std::size_t output) const;

  const Function& function_;
  std::vector<std::size_t> same_input_;  // by output: the input of its name; inputs.size(): none
};

}  // namespace echoline::user_code
