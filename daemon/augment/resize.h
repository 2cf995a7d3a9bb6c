// Antialiased resize of a view, equal to Pillow's: horizontal pass rounded to bytes, then vertical.
#pragma once

#include "augment/resize_weights.h"
#include "augment/view.h"
#include "base/buffer.h"

namespace echoline::augment {

// What one thread keeps between resizes.
struct ResizeBench {
  Weights horizontal;
  Weights vertical;
  Buffer rows;  // between the passes
};

// Writes `size` pixels, dense, to `out`; the view's own edges are the image's edges. Mirrors come
// free: `flip` asks for the result mirrored. Sizes are 1 at least. `out` must not overlap the view.
// True if what was written still has to be mirrored (the width did not change, so there was no pass
// to do it in).
bool resize(const View& view, const ImageSize& size, Filter filter, bool flip, ResizeBench& bench,
            std::uint8_t* out);

}  // namespace echoline::augment
