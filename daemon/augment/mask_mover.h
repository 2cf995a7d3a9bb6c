// Moves a mask as an operation moves the pixels of its picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "augment/shown_lines.h"
#include "base/buffer.h"
#include "decode/relations.h"
#include "decode/sample.h"

namespace echoline::augment {

// The reusable memory of one thread.
struct MaskScratch {
  ShownLines lines;
  Buffer before, moved;
};

// Each pixel of the result has the id of the nearest pixel, as torchvision.transforms.v2 does it
// for masks, or the id of FieldType::ignore where the step adds pixels. Only `move` writes pixels:
// all else changes which row and column of the source each row and column of the result shows.
class MaskMover final : public LinesMover {
 public:
  // `mask` and `scratch` must outlive this.
  MaskMover(const decode::FieldType& type, const decode::Tensor& mask, MaskScratch& scratch);

  void move(const recipes::Affine& back, const decode::ImageSize& size) override;

  // Writes the result, dense.
  void write(std::byte* out) const;

 private:
  // Begins with all rows and columns of a source.
  void show(const std::byte* source, const decode::ImageSize& size);
  template <typename Id>
  void write_ids(Id* out) const;

  const std::byte* source_ = nullptr;
  std::size_t source_width_ = 0;
  const std::size_t id_bytes_;
  const std::uint16_t ignore_;
  MaskScratch& scratch_;
};

// Lets `moves`(Mover&) move a mask of `picture`, and writes the result to `out`. kInvalidArgument:
// they have different sizes.
template <typename Moves>
Status move_mask(const decode::FieldType& type, const decode::Tensor& mask,
                 const decode::Tensor& picture, const Moves& moves, MaskScratch& scratch,
                 std::byte* out) {
  ECHOLINE_TRY(check_mask_size(type, mask, picture));
  MaskMover mover(type, mask, scratch);
  moves(mover);
  mover.write(out);
  return {};
}

// The masks that belong to the image `image`, as numbers of fields.
std::vector<std::size_t> masks_of_image(const std::vector<decode::FieldType>& fields,
                                        const std::string& image);
}  // namespace echoline::augment
