// The instructions of a compiled chain, and the picture they work on.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "augment/resize.h"
#include "augment/view.h"
#include "base/buffer.h"
#include "base/status.h"
#include "echoline/shm/sample_random.h"

namespace echoline::augment {

// One image field of one sample on its way through the chain. Crops and flips only change the view;
// pixels are written when a step has to make new ones, into one of two buffers or straight into the
// row. Invariant: the view points into the sample (then not `owned`), into a buffer or into the
// row.
class Picture {
 public:
  // The sample's pixels stay as they are.
  void start(const View& view, std::span<std::byte> row) {
    view_ = view;
    row_ = row;
    owned_ = false;
  }

  const View& view() const { return view_; }
  void set_view(const View& view) { view_ = view; }
  std::span<std::byte> row() const { return row_; }

  // Room for `size` pixels that overlaps nothing of the view: the row if this is where they stay.
  std::uint8_t* room(const ImageSize& size, bool in_row);
  // The dense pixels in `room` are the picture now.
  void take(const std::uint8_t* room, const ImageSize& size, bool mirrored);
  // The pixels for changing in place, dense; copied first unless they are the picture's own. The
  // view's mirror may still be open.
  std::uint8_t* editable(bool in_row);
  // The pixels as they are now, mirror resolved, stand in the row.
  void settle();

 private:
  View view_;
  std::span<std::byte> row_;
  bool owned_ = false;
  Buffer buffers_[2];
  std::size_t spare_ = 0;  // the buffer without the view's pixels
};

// What every instruction is handed.
struct Work {
  const UseKey& key;
  ResizeBench& resize;
};

// Immutable; any thread may apply it.
class Op {
 public:
  virtual ~Op() = default;
  // The size that comes out whatever goes in, if it is always the same.
  virtual std::optional<ImageSize> fixed_size() const { return std::nullopt; }
  // The size that comes out of `in`; an error where the step cannot be done.
  virtual Result<ImageSize> size_after(const ImageSize& in) const { return in; }
  // True for steps that only change pixels where they are, or mirror them.
  virtual bool keeps_place() const { return false; }
  // Takes the mirror of a following horizontal flip along; false if it can't.
  virtual bool fuse_flip(std::uint8_t /*step*/, double /*probability*/) { return false; }
  // `in_row`: new pixels belong in the row, no later step moves them. `size_after` has accepted the
  // size.
  virtual void apply(const Work& work, Picture& picture, bool in_row) const = 0;
};

}  // namespace echoline::augment
