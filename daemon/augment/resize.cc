#include "augment/resize.h"

#include "augment/resize_passes.h"

namespace echoline::augment {
namespace {

// The source rows that the vertical pass reads.
struct RowRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

RowRange rows_used(const Weights& vertical) {
  const Taps& last = vertical.taps.back();
  const std::uint32_t first = vertical.taps.front().first;
  return {first, last.first + last.count - first};
}

void compute_horizontal(const View& view, std::uint32_t width, Filter filter, bool flip,
                        Weights& weights) {
  compute_weights(filter, view.size.width, width, weights);
  if (view.mirrored) mirror_source(view.size.width, weights);
  if (flip) mirror_outputs(weights);
}

}  // namespace

bool resize(const View& view, const ImageSize& size, Filter filter, bool flip,
            ResizeScratch& scratch, std::uint8_t* out) {
  const bool wide = view.size.width != size.width;
  const bool high = view.size.height != size.height;
  if (!wide && !high) {
    View source = view;
    source.mirrored = view.mirrored != flip;
    copy_pixels(source, out);
    return false;
  }
  if (wide) compute_horizontal(view, size.width, filter, flip, scratch.horizontal);
  if (!high) {
    resize_rows(view.data, view.stride, size.height, view.channels, scratch.horizontal, out);
    return false;
  }
  compute_weights(filter, view.size.height, size.height, scratch.vertical);
  const std::size_t row_bytes = std::size_t{size.width} * view.channels;
  if (!wide) {
    // The vertical pass can't mirror: the caller gets a mirrored view.
    resize_columns(view.data, view.stride, row_bytes, 0, scratch.vertical, out);
    return view.mirrored != flip;
  }
  // The horizontal pass comes first, for these rows only.
  const RowRange used = rows_used(scratch.vertical);
  scratch.rows.resize(used.count * row_bytes);
  auto* rows = reinterpret_cast<std::uint8_t*>(scratch.rows.data());
  resize_rows(view.row(used.first), view.stride, used.count, view.channels, scratch.horizontal,
              rows);
  resize_columns(rows, row_bytes, row_bytes, used.first, scratch.vertical, out);
  return false;
}

}  // namespace echoline::augment
