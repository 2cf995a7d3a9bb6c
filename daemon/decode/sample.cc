#include "decode/sample.h"

#include <algorithm>

namespace echoline::decode {

bool fits(const FieldType& type, const Shape& shape) {
  if (type.fixed) return shape == type.shape;
  if (shape.rank != type.shape.rank) return false;
  const auto inner = [](const Shape& one) { return one.sizes.begin() + 1; };
  if (type.ragged) {
    return shape.sizes[0] <= type.shape.sizes[0] &&
           std::equal(inner(shape), shape.sizes.end(), inner(type.shape));
  }
  if (type.mask) return shape.elements() > 0;
  // A picture of any size; of others, such as a picture after normalize, only a sample shows it.
  return !type.image || (shape.elements() > 0 && shape.sizes[2] == type.shape.sizes[2]);
}

}  // namespace echoline::decode
