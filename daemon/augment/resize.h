// Antialiased resize of a view, with the results of Pillow's Image.resize: a horizontal pass with
// results rounded to bytes, then a vertical pass.
#pragma once

#include "augment/resize_weights.h"
#include "augment/view.h"
#include "base/buffer.h"

namespace echoline::augment {

// The reusable state of one thread that resizes.
struct ResizeScratch {
  Weights horizontal;
  Weights vertical;
  Buffer rows;  // between the passes
};

// Writes `size` dense pixels to `out`, which must not overlap the view. Pixels outside the view are
// not used, even if it is a crop. Sizes are at least 1. `flip`: mirror the result.
// Returns true if the caller must still mirror the written pixels: without a horizontal pass,
// resize does not.
bool resize(const View& view, const ImageSize& size, Filter filter, bool flip,
            ResizeScratch& scratch, std::uint8_t* out);

}  // namespace echoline::augment
