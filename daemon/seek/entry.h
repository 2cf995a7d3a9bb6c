// One seek index, in memory and on the disk: a head, and the points after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "jpeg/seek_point.h"

namespace echoline::seek {

struct EntryHead {
  std::uint64_t check = 0;     // of all bytes after it, and of the identity of the data set
  std::uint64_t file = 0;      // the number of the JPEG file in its data set
  std::uint64_t checksum = 0;  // of the bytes of the JPEG file
  std::uint32_t points = 0;
  std::uint32_t reserved = 0;

  // Of the whole entry. It ends with zeros, so that the next head is aligned.
  std::size_t bytes() const {
    return (sizeof(EntryHead) + points * sizeof(jpeg::SeekPoint) + 7) / 8 * 8;
  }
};
static_assert(sizeof(EntryHead) == 32 && std::has_unique_object_representations_v<EntryHead>);
static_assert(sizeof(jpeg::SeekPoint) == 12);
static_assert(std::has_unique_object_representations_v<jpeg::SeekPoint>);

// A picture is at most 65,535 rows of pixels high, and an MCU at least 8.
inline constexpr std::uint32_t kPointsMax = 8192;
inline constexpr std::size_t kEntryBytesMax =
    sizeof(EntryHead) + kPointsMax * sizeof(jpeg::SeekPoint);

// Of a JPEG file: a file with other bytes has other points.
std::uint64_t checksum_of(jpeg::Bytes file);
// EntryHead::check, for a whole entry.
std::uint64_t check_of(std::span<const std::byte> entry, std::uint64_t identity);

}  // namespace echoline::seek
