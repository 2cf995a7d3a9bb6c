#include "jpeg/reduced_decoder.h"

#include <algorithm>
#include <cstring>

#include "jpeg/color_conversion.h"
#include "jpeg/planes.h"
#include "jpeg/reduced_idct.h"

namespace echoline::jpeg {
namespace {

constexpr std::uint32_t kRows = RowWalk::kRowsAtOnce;  // MCU rows in memory

}  // namespace

bool ReducedDecoder::takes(const Header& header) {
  if (header.component_count == 1) return true;
  const Geometry geometry = geometry_of(header);
  return geometry.horizontal == geometry.vertical;
}

bool ReducedDecoder::start(const Header& header, Bytes file, const Window& window, std::uint32_t by,
                           bool rgb, SeekPoints points) {
  header_ = header;
  geometry_ = geometry_of(header);
  window_ = window;
  by_ = by;
  rgb_ = rgb;
  side_ = kBlockSide / by * geometry_.horizontal;
  mcu_left_ = window.left / side_;
  mcu_columns_ = (window.left + window.width - 1) / side_ - mcu_left_ + 1;
  row_ = window.top;
  mcu_row_ = row_ / side_;
  for (std::size_t i = 0; i < header.component_count; ++i) {
    steps_[i] = steps_of(header.quantization[header.components[i].quantization]);
  }
  stride_ = std::size_t{mcu_columns_} * side_ + kRowPadding;
  samples_.resize(stride_ * kRows * side_ * header.component_count);
  const std::uint32_t mcu_row_end = (window.top + window.height - 1) / side_ + 1;
  if (!walk_.begin(header, file, points, {mcu_row_, mcu_row_end, mcu_left_, mcu_columns_})) {
    return false;
  }
  for (std::size_t i = 0; i < header.component_count; ++i) {
    if (component_by(i) == kBlockSide) walk_.leave_ac_out(i);
  }
  return true;
}

std::uint8_t* ReducedDecoder::row(std::size_t component, std::size_t y) {
  auto* samples = reinterpret_cast<std::uint8_t*>(samples_.data());
  const std::size_t rows = std::size_t{kRows} * side_;
  return samples + (component * rows + y % rows) * stride_;
}

bool ReducedDecoder::decode_mcu_rows() {
  const std::uint32_t rows = walk_.begin_rows();
  if (rows == 0) return false;
  for (std::uint32_t done = 0; done < mcu_columns_; done += kBatchMcus) {
    const std::size_t count = std::min<std::size_t>(kBatchMcus, mcu_columns_ - done);
    if (!walk_.decode(count, batches_)) return false;
    for (std::uint32_t i = 0; i < rows; ++i) make_samples(batches_[i], mcu_row_ + i, done, count);
  }
  mcu_row_ += rows;
  return walk_.end_rows();
}

// A block of chroma gets as many samples as the luma blocks of its MCU together, so it is reduced
// by less.
std::uint32_t ReducedDecoder::component_by(std::size_t component) const {
  return component == 0 ? by_ : by_ / geometry_.horizontal;
}

// The samples of the batch, which begins with MCU `first_mcu` of the window.
void ReducedDecoder::make_samples(const Batch& batch, std::uint32_t mcu_row,
                                  std::uint32_t first_mcu, std::size_t count) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < header_.component_count; ++i) {
    const std::size_t wide = i == 0 ? geometry_.horizontal : 1;
    const std::size_t each = i == 0 ? wide * geometry_.vertical : 1;
    const std::uint32_t by = component_by(i);
    const std::size_t block_side = kBlockSide / by;
    std::size_t full_count = 0;
    std::size_t flat_count = 0;
    for (std::size_t mcu = 0; mcu < count; ++mcu) {
      for (std::size_t j = 0; j < each; ++j) {
        const std::size_t x = (first_mcu + mcu) * wide + j % wide;
        const std::size_t block = index + mcu * each + j;
        const std::size_t y = std::size_t{mcu_row} * side_ + j / wide * block_side;
        const BlockTask task{batch.block(block), row(i, y) + x * block_side};
        (batch.ac[block] != 0 ? full_[full_count++] : flat_[flat_count++]) = task;
      }
    }
    reduced_idct_blocks(full_.data(), full_count, steps_[i], stride_, by);
    reduced_fill_blocks(flat_.data(), flat_count, steps_[i], stride_, by);
    index += each * kBatchMcus;
  }
}

bool ReducedDecoder::read_row(std::uint8_t* out) {
  const std::uint32_t y = row_++;
  while (mcu_row_ <= y / side_) {
    if (!decode_mcu_rows()) return false;
  }
  const std::size_t left = window_.left - std::size_t{mcu_left_} * side_;
  const std::uint8_t* luma = row(0, y) + left;
  if (header_.component_count == 3) {
    ycbcr_to_rgb(luma, row(1, y) + left, row(2, y) + left, window_.width, out);
  } else if (rgb_) {
    gray_to_rgb(luma, window_.width, out);
  } else {
    std::memcpy(out, luma, window_.width);
  }
  return true;
}

}  // namespace echoline::jpeg
