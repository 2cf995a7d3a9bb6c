#include "recipes/recipe_draws.h"

#include "recipes/magnitudes.h"
#include "recipes/policies.h"

namespace echoline::recipes {
namespace {

constexpr std::uint32_t kAutoAugmentBins = 10;

Operation drawn_operation(SampleRandom& random) {
  return static_cast<Operation>(random.below(kDrawnOperations));
}

bool drawn_direction(SampleRandom& random, Operation operation) {
  return has_direction(operation) && random.uniform_double() <= 0.5;
}

}  // namespace

Changes rand_augment_draw(const UseKey& key, std::uint8_t step, const ImageSize& size,
                          const RandAugment& settings) {
  SampleRandom random(key, step);
  Changes changes;
  for (std::uint32_t i = 0; i < settings.operations; ++i) {
    const Operation operation = drawn_operation(random);
    const bool reverse = drawn_direction(random, operation);
    changes.add(
        change_of(Space::kStandard, operation, settings.magnitude, settings.bins, reverse, size));
  }
  return changes;
}

Changes trivial_augment_wide_draw(const UseKey& key, std::uint8_t step, const ImageSize& size,
                                  std::uint32_t bins) {
  SampleRandom random(key, step);
  const Operation operation = drawn_operation(random);
  const std::uint32_t index = has_magnitude(operation) ? random.below(bins) : 0;
  const bool reverse = drawn_direction(random, operation);
  Changes changes;
  changes.add(change_of(Space::kWide, operation, index, bins, reverse, size));
  return changes;
}

Changes auto_augment_draw(const UseKey& key, std::uint8_t step, const ImageSize& size,
                          Policy policy) {
  SampleRandom random(key, step);
  Changes changes;
  for (const PolicyStep& part : policy_pairs(policy)[random.below(kPolicyPairs)]) {
    if (random.uniform_double() > part.probability) continue;
    const bool reverse = drawn_direction(random, part.operation);
    changes.add(change_of(Space::kStandard, part.operation, part.magnitude, kAutoAugmentBins,
                          reverse, size));
  }
  return changes;
}

}  // namespace echoline::recipes
