// How strong an operation of a recipe is, as torchvision's tables of magnitudes say.
#pragma once

#include <cstdint>

#include "recipes/change.h"

namespace echoline::recipes {

enum class Space : std::uint8_t {
  kStandard,  // AutoAugment and RandAugment
  kWide,      // TrivialAugmentWide
};

// Whether an operation has a magnitude at all.
bool has_magnitude(Operation operation);
// Whether it also goes in the other direction, by a draw.
bool has_direction(Operation operation);
// The change with magnitude number `index` of `bins`, in a picture of this size. index < bins, at
// least 2 bins.
Change change_of(Space space, Operation operation, std::uint32_t index, std::uint32_t bins,
                 bool reverse, const ImageSize& size);

}  // namespace echoline::recipes
