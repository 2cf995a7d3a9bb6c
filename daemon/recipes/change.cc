#include "recipes/change.h"

namespace echoline::recipes {

std::optional<Affine> motion_of(const Change& change, const ImageSize& size) {
  switch (change.operation) {
    case Operation::kShearX:
      return shear_x(change.amount);
    case Operation::kShearY:
      return shear_y(change.amount);
    case Operation::kTranslateX:
      return translation(change.amount, 0);
    case Operation::kTranslateY:
      return translation(0, change.amount);
    case Operation::kRotate:
      return rotation(change.amount, size);
    default:
      return std::nullopt;
  }
}

}  // namespace echoline::recipes
