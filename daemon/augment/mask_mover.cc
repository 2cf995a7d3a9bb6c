#include "augment/mask_mover.h"

#include <algorithm>
#include <cstring>

namespace echoline::augment {

MaskMover::MaskMover(const decode::FieldType& type, const decode::Tensor& mask,
                     MaskScratch& scratch)
    : LinesMover(scratch.lines),
      id_bytes_(shm::dtype_bytes(type.dtype)),
      ignore_(type.ignore),
      scratch_(scratch) {
  show(mask.content().data(), {mask.shape.sizes[0], mask.shape.sizes[1]});
}

void MaskMover::show(const std::byte* source, const decode::ImageSize& size) {
  source_ = source;
  source_width_ = size.width;
  lines().start(size);
}

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
  for (const std::uint32_t row : lines().rows) {
    if (row == kAddedLine) {
      out = std::fill_n(out, lines().columns.size(), added);
      continue;
    }
    const std::byte* const ids = source_ + std::size_t{row} * source_width_ * sizeof(Id);
    for (const std::uint32_t column : lines().columns) {
      Id id = added;
      // Borrowed tensors can have any alignment.
      if (column != kAddedLine)
        std::memcpy(&id, ids + std::size_t{column} * sizeof(Id), sizeof(Id));
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
