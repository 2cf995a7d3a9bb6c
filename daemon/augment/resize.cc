#include "augment/resize.h"

#include "augment/resize_passes.h"

namespace echoline::augment {
namespace {

void compute_horizontal(const View& view, const Axis& columns, Filter filter, bool flip,
                        Weights& weights) {
  compute_weights(filter, columns, weights);
  if (view.mirrored) mirror_source(view.size.width, weights);
  if (flip) mirror_outputs(weights);
}

}  // namespace

bool resize(const View& view, const Axis& rows, const Axis& columns, Filter filter, bool flip,
            ResizeScratch& scratch, std::uint8_t* out) {
  const bool wide = columns.resizes();
  const bool high = rows.resizes();
  if (!wide && !high) {
    View source = view;
    source.mirrored = view.mirrored != flip;
    copy_pixels(source, out);
    return false;
  }
  if (wide) compute_horizontal(view, columns, filter, flip, scratch.horizontal);
  if (!high) {
    resize_rows(view, scratch.horizontal, scratch.passes, out);
    return false;
  }
  compute_weights(filter, rows, scratch.vertical);
  const std::size_t row_bytes = std::size_t{columns.count} * view.channels;
  if (!wide) {
    // The vertical pass can't mirror: the caller gets a mirrored view.
    resize_columns(view.data, view.stride, row_bytes, scratch.vertical, scratch.passes, out);
    return view.mirrored != flip;
  }
  scratch.rows.resize(view.size.height * row_bytes);
  auto* between = reinterpret_cast<std::uint8_t*>(scratch.rows.data());
  resize_rows(view, scratch.horizontal, scratch.passes, between);
  resize_columns(between, row_bytes, row_bytes, scratch.vertical, scratch.passes, out);
  return false;
}

}  // namespace echoline::augment
