// The type of a decoded image.
#pragma once

#include "decode/sample.h"

namespace echoline::augment {

// The field "image", of any size.
inline decode::FieldType image_type(std::uint32_t channels) {
  decode::FieldType type;
  type.name = "image";
  type.image = true;
  type.shape = {{0, 0, channels}, 3};
  return type;
}

}  // namespace echoline::augment
