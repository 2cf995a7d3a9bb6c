// The lists come from a trainer's state or from the set-echo command, so every entry is checked.
#include "plan/factor_list.h"

#include <string>

#include "plan/echo_shape.h"

namespace echoline::plan {
namespace {

Status refusal(std::size_t index, const std::string& why) {
  return Status(Code::kInvalidArgument, "factor list: entry " + std::to_string(index) + ": " + why);
}

Status check_one(const FactorChange& change, std::size_t index, const ChangeLimits& limits) {
  if (change.factor < 1000 || change.factor > limits.factor_max) {
    return refusal(index, "the factor of " + std::to_string(change.factor) +
                              " thousandths is not within 1000 and echo.max, which is " +
                              std::to_string(limits.factor_max) + " thousandths");
  }
  if (change.block > 0 && change.block >= limits.end()) {
    return refusal(index, "block " + std::to_string(change.block) +
                              " is too late for this epoch of " + std::to_string(limits.blocks) +
                              " blocks: the change begins with the next epoch");
  }
  return {};
}

}  // namespace

std::uint64_t ChangeLimits::end() const {
  const std::uint64_t last = 2 * (std::uint64_t{passes_of(factor_max)} - 1);
  return blocks > last ? blocks - last : 0;
}

Status check_changes(std::span<const FactorChange> changes, const ChangeLimits& limits) {
  if (changes.size() > kChangesMax) {
    return Status(Code::kInvalidArgument, "factor list: " + std::to_string(changes.size()) +
                                              " changes in one epoch; at most " +
                                              std::to_string(kChangesMax));
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ECHOLINE_TRY(check_one(changes[i], i, limits));
    if (i > 0 && changes[i].block <= changes[i - 1].block) {
      return refusal(i, "block " + std::to_string(changes[i].block) +
                            " does not come after the block of the entry before");
    }
  }
  return {};
}

std::vector<FactorChange> whole_list(std::span<const FactorChange> changes, std::uint32_t factor) {
  std::vector<FactorChange> whole;
  if (changes.empty() || changes[0].block > 0) whole.push_back({0, factor});
  whole.insert(whole.end(), changes.begin(), changes.end());
  return whole;
}

}  // namespace echoline::plan
