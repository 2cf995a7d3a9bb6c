// The EXIF orientation of a picture, and turning its pixels upright.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "decode/image_reader.h"

namespace echoline::decode {

// The TIFF structure in a JPEG's APP1 segment; none if the segment is not EXIF.
std::optional<std::span<const std::byte>> exif_of_app1(std::span<const std::byte> payload);

// The TIFF structure in a PNG's eXIf chunk before the pixels; empty if there is none. Read here and
// not by libpng, because libpng 1.6.39 allocates as many bytes as the chunk claims to have.
std::span<const std::byte> exif_of_png(std::span<const std::byte> file);

// The TIFF structure in a WebP's EXIF chunk; empty if there is none.
std::span<const std::byte> exif_of_webp(std::span<const std::byte> file);

// Tag 0x0112 of the first directory; 1 if it is missing or invalid.
Orientation exif_orientation(std::span<const std::byte> tiff);

// True for the four orientations that exchange height and width.
constexpr bool swaps_sides(Orientation orientation) { return orientation >= 5; }

// The region of the stored picture with the pixels of `region` of the upright picture.
Region stored_region(const Region& region, const ImageSize& stored, Orientation orientation);

// How the upright picture is covered by one whose stored rows and columns, `stored` before, were
// reduced.
Reduction upright_reduction(std::uint32_t by, const ImageSize& stored, Orientation orientation);

// Turns `stored`, dense [size.height, size.width, channels], upright into `out`.
void turn_upright(const std::uint8_t* stored, const ImageSize& size, std::size_t channels,
                  Orientation orientation, std::uint8_t* out);

}  // namespace echoline::decode
