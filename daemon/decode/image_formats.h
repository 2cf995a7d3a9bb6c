// The table of picture formats. A file's first bytes determine its format; names are often wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "decode/image_reader.h"
#include "decode/jpeg.h"

namespace echoline::decode {

// Pictures decoded, by format and decoder. Any thread may add and read.
struct ImageCounts {
  JpegCounts jpeg;
  std::atomic<std::uint64_t> png{0};
  std::atomic<std::uint64_t> webp{0};
  std::atomic<std::uint64_t> avif{0};
};

// What the readers of one thread share with those of others. Null: nothing is counted, and no seek
// indexes are kept.
struct ImageShared {
  explicit ImageShared(ImageCounts* all_counts = nullptr, seek::Indexes* indexes = nullptr)
      : counts(all_counts),
        jpegs{.counts = all_counts == nullptr ? nullptr : &all_counts->jpeg, .indexes = indexes} {}

  ImageCounts* counts;
  JpegShared jpegs;
};

struct ImageFormat {
  std::string_view name;
  std::string_view magic;
  std::size_t offset = 0;  // of the magic bytes in a file
  // `shared` outlives the reader.
  std::unique_ptr<ImageReader> (*make)(const ImageShared& shared);
  // Null: the reader itself counts.
  std::atomic<std::uint64_t> ImageCounts::*count;
};

std::span<const ImageFormat> image_formats();
bool has_magic(std::span<const std::byte> file, std::string_view magic, std::size_t offset);
// The most helpful message for a file of no format of the table.
Status not_supported(std::span<const std::byte> file);

}  // namespace echoline::decode
