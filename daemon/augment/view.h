// A reference to pixels of an image. A crop is another view of the same pixels, not a copy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "augment/draws.h"
#include "decode/image_reader.h"
#include "recipes/pixels.h"

namespace echoline::augment {

using decode::ImageSize;

// uint8 [height, width, channels]. If `mirrored`, column x of the image is column width - 1 - x of
// the data. Does not own the pixels.
struct View : recipes::Pixels {
  bool mirrored = false;

  std::size_t bytes() const { return row_bytes() * size.height; }
  bool dense() const { return stride == row_bytes(); }

  // `box` is within the size, in columns of the image, not of the data.
  View crop(const Box& box) const {
    const std::size_t left = mirrored ? size.width - box.left - box.width : box.left;
    View part = *this;
    part.data = row(box.top) + left * channels;
    part.size = {box.height, box.width};
    return part;
  }
};

// Writes the image's pixels as dense rows, mirrored if the view is.
void copy_pixels(const View& view, std::uint8_t* out);

// Mirrors dense pixels in place.
void mirror_pixels(std::uint8_t* pixels, const ImageSize& size, std::uint32_t channels);

}  // namespace echoline::augment
