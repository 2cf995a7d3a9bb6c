// The draws of rand_augment, trivial_augment_wide and auto_augment for one use of one sample. The
// order of the draws is that of torchvision.transforms.v2, and part of the contract.
#pragma once

#include <cstdint>

#include "echoline/shm/sample_random.h"
#include "recipes/change.h"

namespace echoline::recipes {

struct RandAugment {
  std::uint32_t operations = 2;  // at most Changes::kMax
  std::uint32_t magnitude = 9;   // below `bins`
  std::uint32_t bins = 31;
};

enum class Policy : std::uint8_t { kImageNet, kCifar10, kSvhn };

// For each operation: which one, and, if it has one, its direction.
Changes rand_augment_draw(const UseKey& key, std::uint8_t step, const ImageSize& size,
                          const RandAugment& settings);
// Which operation, then its magnitude and its direction, if it has them.
Changes trivial_augment_wide_draw(const UseKey& key, std::uint8_t step, const ImageSize& size,
                                  std::uint32_t bins);
// Which of 25 pairs; then for each of the two whether it is made, and its direction, if it has one.
Changes auto_augment_draw(const UseKey& key, std::uint8_t step, const ImageSize& size,
                          Policy policy);

}  // namespace echoline::recipes
