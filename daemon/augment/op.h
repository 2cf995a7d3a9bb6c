// The image that a chain works on, and the operations that change it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "augment/mover.h"
#include "augment/resize.h"
#include "augment/view.h"
#include "base/buffer.h"
#include "base/status.h"
#include "echoline/shm/sample_random.h"

namespace echoline::augment {

// One image field of one sample. Flips, and crops without padding, only change the view. A step
// that needs new pixels writes them to one of two buffers, or directly to the row of the batch.
// Invariant: the view points into the sample (then `owned_` is false), into a buffer, or into the
// row. One thread.
class Picture {
 public:
  // Starts with the pixels of a sample, which stay unchanged: `view` shows the part `part` of a
  // picture of `size`. If that is not all of it, the first operation is a crop (Op::part).
  void start(const View& view, const Box& part, const ImageSize& size, std::span<std::byte> row,
             const decode::Reduction& reduction = {}) {
    view_ = view;
    part_ = part;
    size_ = size;
    reduction_ = reduction;
    row_ = row;
    owned_ = false;
  }

  const ImageSize& size() const { return size_; }
  std::uint32_t channels() const { return view_.channels; }
  // The pixels of `box`, which is within the size and within the part that there is.
  View crop(const Box& box) const;
  // The whole picture.
  const View& view() const;
  // If it is by more than 1, the first operation uses these two and not the pixels of the picture.
  const decode::Reduction& reduction() const { return reduction_; }
  const View& reduced_view() const { return view_; }
  // What the view shows of the reduced picture.
  const Box& reduced_part() const { return part_; }
  void set_view(const View& view) {
    view_ = view;
    reduction_ = {};
    part_ = decode::whole_picture(view.size);
    size_ = view.size;
  }

  // Memory for `size` pixels that does not overlap the view: the row if `in_row`, else a buffer.
  // Only the last step that moves pixels is marked `in_row`, so the view is not in the row before.
  std::uint8_t* room(const ImageSize& size, bool in_row);
  // Makes the dense pixels in `room` the picture.
  void take(const std::uint8_t* room, const ImageSize& size, bool mirrored);
  // Dense pixels that may be changed in place; copies them first if they belong to the sample. The
  // view may still be mirrored.
  std::uint8_t* editable(bool in_row);
  // The whole picture, not mirrored; copies the pixels if the view is.
  const View& unmirrored();
  // Writes the pixels to the row, if they are not there yet, and resolves the mirror.
  void settle();

 private:
  View view_;
  Box part_;        // what the view shows of the picture
  ImageSize size_;  // of the picture
  decode::Reduction reduction_;
  std::span<std::byte> row_;
  bool owned_ = false;
  Buffer buffers_[2];
  std::size_t spare_ = 0;  // the buffer that does not hold the view's pixels
};

// The arguments of an operation that belong to the sample and to the thread.
struct Work {
  const UseKey& key;
  ResizeScratch& resize;
  std::vector<float>& lines;  // of a blur
};

class Crop;

// One operation on an image. Immutable once compiled; any thread may apply it.
class Op {
 public:
  virtual ~Op() = default;
  // The size of the result if it does not depend on the input.
  virtual std::optional<ImageSize> fixed_size() const { return std::nullopt; }
  // The size of the result for an input of size `in`; an error if the step can't be done on it.
  virtual Result<ImageSize> size_after(const ImageSize& in) const { return in; }
  // The pixels of an input of size `in` that `apply` reads for this use; nothing: any of them. The
  // caller has called size_after for this size without an error.
  virtual std::optional<Box> part(const UseKey& /*key*/, const ImageSize& /*in*/) const {
    return std::nullopt;
  }
  // How small the part may be made by a decoder that can: 1, 2, 4 or 8 times smaller per side.
  virtual std::uint32_t reduction_max(const UseKey& /*key*/, const ImageSize& /*in*/) const {
    return 1;
  }
  // True if no pixel moves, except by a mirror, so that an earlier step may already write into the
  // row (FieldProgram::mark_rows).
  virtual bool keeps_place() const { return false; }
  // Takes over a horizontal flip that follows; returns false if it can't. Only while compiling.
  virtual bool fuse_flip(std::uint8_t /*step*/, double /*probability*/) { return false; }
  // Takes over a crop that follows; leaves it if it can't. Only while compiling.
  virtual void fuse_crop(std::unique_ptr<Crop>& /*crop*/) {}
  // Whether it moves pixels, so that boxes, key points and masks of the picture must follow.
  virtual bool moves_points() const { return false; }
  // Moves them as `apply` moves the pixels of a picture of size `in`, for which size_after gave no
  // error.
  virtual void move(const UseKey& /*key*/, const ImageSize& /*in*/, Mover& /*mover*/) const {}
  // `in_row`: write new pixels to the row, because no later step moves them. The caller has called
  // size_after for this size without an error.
  virtual void apply(const Work& work, Picture& picture, bool in_row) const = 0;
};

}  // namespace echoline::augment
