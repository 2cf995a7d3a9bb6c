// The pixels of a reduced picture that replace a region of the whole one.
#pragma once

#include "decode/image_reader.h"

namespace echoline::decode {

// All pixels of the reduced picture that cover a part of `region`, except those that are partly
// padding: these have no right colour. `region` is within `size`, the size of the whole picture,
// and at least as high and wide as the reduction; so the result is not empty.
Region reduced_region(const Region& region, const ImageSize& size, const Reduction& reduction);

}  // namespace echoline::decode
