// The orientation that a camera wrote into a picture, and the turning of pixels by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "decode/image_reader.h"

namespace echoline::decode {

// The TIFF structure within a JPEG's APP1 segment; none if the segment is no EXIF.
std::optional<std::span<const std::byte>> exif_of_app1(std::span<const std::byte> payload);

// The TIFF structure of a PNG's eXIf chunk before its pixels; empty if there is none. Read here
// because libpng 1.6.39 takes as much memory for it as the chunk claims to have.
std::span<const std::byte> exif_of_png(std::span<const std::byte> file);

// Tag 0x0112 of the first directory; 1 where it is missing or makes no sense.
Orientation exif_orientation(std::span<const std::byte> tiff);

// True for the four orientations that lay the picture on its side.
constexpr bool swaps_sides(Orientation orientation) { return orientation >= 5; }

// The stored region that `region` of the upright picture comes from.
Region stored_region(const Region& region, const ImageSize& stored, Orientation orientation);

// Turns `stored`, dense [size.height, size.width, channels], upright into `out`.
void turn_upright(const std::uint8_t* stored, const ImageSize& size, std::size_t channels,
                  Orientation orientation, std::uint8_t* out);

}  // namespace echoline::decode
