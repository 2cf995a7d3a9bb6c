// Antialiased resize of a view, with the results of Pillow's Image.resize: a horizontal pass with
// results rounded to bytes, then a vertical pass.
#pragma once

#include "augment/resize_passes.h"
#include "augment/resize_weights.h"
#include "augment/view.h"
#include "base/buffer.h"

namespace echoline::augment {

// The reusable state of one thread that resizes.
struct ResizeScratch {
  Weights horizontal;
  Weights vertical;
  PassScratch passes;
  Buffer rows;  // between the passes
};

// Writes the outputs of the two axes as dense pixels to `out`, which must not overlap the view. The
// view shows the pixels of their source ranges; pixels outside it are not used. Sizes are at least
// 1. `flip`: mirror the result. Returns true if the caller must still mirror the written pixels:
// without a horizontal pass, resize does not.
bool resize(const View& view, const Axis& rows, const Axis& columns, Filter filter, bool flip,
            ResizeScratch& scratch, std::uint8_t* out);

}  // namespace echoline::augment
