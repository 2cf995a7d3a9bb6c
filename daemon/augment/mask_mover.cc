#include "augment/mask_mover.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace echoline::augment {
namespace {

using Lines = std::vector<std::uint32_t>;

constexpr std::uint32_t kAdded = UINT32_MAX;  // a row or column that the source does not have

void cut_lines(Lines& lines, Lines& spare, std::int64_t first, std::uint32_t count) {
  spare.assign(count, kAdded);
  const auto size = static_cast<std::int64_t>(lines.size());
  const std::int64_t begin = std::clamp<std::int64_t>(first, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(first + count, 0, size);
  if (begin < end)
    std::copy(lines.begin() + begin, lines.begin() + end, spare.begin() + (begin - first));
  std::swap(lines, spare);
}

// The rule of torch's `interpolate` with mode "nearest", in float32 as there.
void scale_lines(Lines& lines, Lines& spare, std::uint32_t to) {
  const auto from = static_cast<std::uint32_t>(lines.size());
  const float step = static_cast<float>(from) / static_cast<float>(to);
  spare.resize(to);
  for (std::uint32_t i = 0; i < to; ++i) {
    const auto at = static_cast<std::uint32_t>(std::floor(static_cast<float>(i) * step));
    spare[i] = lines[std::min(at, from - 1)];
  }
  std::swap(lines, spare);
}

}  // namespace

MaskMover::MaskMover(const decode::FieldType& type, const decode::Tensor& mask,
                     MaskScratch& scratch)
    : id_bytes_(shm::dtype_bytes(type.dtype)), ignore_(type.ignore), scratch_(scratch) {
  show(mask.content().data(), {mask.shape.sizes[0], mask.shape.sizes[1]});
}

void MaskMover::show(const std::byte* source, const decode::ImageSize& size) {
  source_ = source;
  source_width_ = size.width;
  scratch_.rows.resize(size.height);
  scratch_.columns.resize(size.width);
  std::iota(scratch_.rows.begin(), scratch_.rows.end(), 0U);
  std::iota(scratch_.columns.begin(), scratch_.columns.end(), 0U);
}

void MaskMover::cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) {
  cut_lines(scratch_.rows, scratch_.spare, top, size.height);
  cut_lines(scratch_.columns, scratch_.spare, left, size.width);
}

void MaskMover::scale(const decode::ImageSize&, const decode::ImageSize& to) {
  scale_lines(scratch_.rows, scratch_.spare, to.height);
  scale_lines(scratch_.columns, scratch_.spare, to.width);
}

void MaskMover::mirror(std::uint32_t) { std::ranges::reverse(scratch_.columns); }

void MaskMover::move(const recipes::Affine& back, const decode::ImageSize& size) {
  scratch_.before.resize(size.pixels() * id_bytes_);
  write(scratch_.before.data());
  recipes::Pixels pixels;
  pixels.data = reinterpret_cast<const std::uint8_t*>(scratch_.before.data());
  pixels.size = size;
  pixels.channels = static_cast<std::uint32_t>(id_bytes_);  // the bytes of an id stay together
  pixels.stride = pixels.row_bytes();
  recipes::Resampling resampling;
  std::memcpy(resampling.fill.data(), &ignore_, sizeof ignore_);
  // Only now: it may be the source.
  scratch_.moved.resize(size.pixels() * id_bytes_);
  transform(pixels, back, resampling, reinterpret_cast<std::uint8_t*>(scratch_.moved.data()));
  show(scratch_.moved.data(), size);
}

template <typename Id>
void MaskMover::write_ids(Id* out) const {
  const auto added = static_cast<Id>(ignore_);
  for (const std::uint32_t row : scratch_.rows) {
    if (row == kAdded) {
      out = std::fill_n(out, scratch_.columns.size(), added);
      continue;
    }
    const std::byte* const ids = source_ + std::size_t{row} * source_width_ * sizeof(Id);
    for (const std::uint32_t column : scratch_.columns) {
      Id id = added;
      // Borrowed tensors can have any alignment.
      if (column != kAdded) std::memcpy(&id, ids + std::size_t{column} * sizeof(Id), sizeof(Id));
      *out++ = id;
    }
  }
}

void MaskMover::write(std::byte* out) const {
  if (id_bytes_ == 1) return write_ids(reinterpret_cast<std::uint8_t*>(out));
  write_ids(reinterpret_cast<std::uint16_t*>(out));
}

std::vector<std::size_t> masks_of_image(const std::vector<decode::FieldType>& fields,
                                        const std::string& image) {
  std::vector<std::size_t> masks;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].mask && fields[i].of == image) masks.push_back(i);
  }
  return masks;
}

}  // namespace echoline::augment
