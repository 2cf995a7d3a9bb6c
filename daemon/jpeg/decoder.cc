#include "jpeg/decoder.h"

#include <algorithm>
#include <cstring>

#include "jpeg/color_conversion.h"
#include "jpeg/upsampling.h"

namespace echoline::jpeg {

bool Decoder::open(Bytes file) {
  file_ = file;
  return read_header(file, header_);
}

bool Decoder::start(const Window& window, bool rgb, SeekPoints points) {
  geometry_ = geometry_of(header_);
  window_ = window;
  rgb_ = rgb;
  upsampling_ = choose_upsampling();
  choose_window();
  for (std::size_t i = 0; i < header_.component_count; ++i) {
    steps_[i] = steps_of(header_.quantization[header_.components[i].quantization]);
  }
  // With points, two rows are decoded at once, and the one above them is still needed: three,
  // rounded up to a power of two.
  planes_.resize(header_.component_count, geometry_, mcu_columns_, points.empty() ? 2 : 4);
  for (Buffer& row : upsampled_) row.resize(window.width + 4 * kRowPadding);
  return walk_.begin(header_, file_, points, {mcu_row_, mcu_row_end_, mcu_left_, mcu_columns_});
}

// libjpeg's choice: rows of one or two samples are not filtered.
Decoder::Upsampling Decoder::choose_upsampling() const {
  if (header_.component_count == 1) return Upsampling::kNone;
  if (geometry_.horizontal == 1) {
    return geometry_.vertical == 1 ? Upsampling::kNone : Upsampling::kRows;
  }
  if (geometry_.chroma_width <= 2) return Upsampling::kRepeated;
  return geometry_.vertical == 1 ? Upsampling::kColumns : Upsampling::kBoth;
}

// Filters look at one sample of chroma more on each side.
void Decoder::choose_window() {
  const std::uint32_t margin = upsampling_ == Upsampling::kNone ? 0 : 1;
  const std::uint32_t wide = geometry_.horizontal;
  const std::uint32_t left = window_.left / wide;
  const std::uint32_t last = (window_.left + window_.width - 1) / wide;
  mcu_left_ = (left - std::min(left, margin)) / kBlockSide;
  const std::uint32_t mcu_last = std::min(last + margin, geometry_.chroma_width - 1) / kBlockSide;
  mcu_columns_ = mcu_last - mcu_left_ + 1;
  row_ = window_.top;
  const std::uint32_t own = row_ / geometry_.vertical;
  mcu_row_ = std::min(own, far_row(row_)) / kBlockSide;
  const std::uint32_t row_last = window_.top + window_.height - 1;
  mcu_row_end_ = std::max(row_last / geometry_.vertical, far_row(row_last)) / kBlockSide + 1;
}

std::uint32_t Decoder::far_row(std::uint32_t y) const {
  const std::uint32_t own = y / geometry_.vertical;
  if (upsampling_ != Upsampling::kRows && upsampling_ != Upsampling::kBoth) return own;
  if (y % 2 == 0) return own == 0 ? own : own - 1;
  return std::min(own + 1, geometry_.chroma_height - 1);
}

bool Decoder::decode_mcu_rows() {
  const std::uint32_t rows = walk_.begin_rows();
  if (rows == 0) return false;
  for (std::uint32_t done = 0; done < mcu_columns_; done += kBatchMcus) {
    const std::size_t count = std::min<std::size_t>(kBatchMcus, mcu_columns_ - done);
    if (!walk_.decode(count, batches_)) return false;
    for (std::uint32_t i = 0; i < rows; ++i) {
      make_samples(batches_[i], mcu_row_ + i, done, count);
    }
  }
  if (!walk_.end_rows()) return false;
  for (std::uint32_t i = 0; i < rows; ++i) extend_edges(mcu_row_ + i);
  mcu_row_ += rows;
  return true;
}

void Decoder::make_samples(const Batch& batch, std::uint32_t mcu_row, std::uint32_t first_mcu,
                           std::size_t count) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < header_.component_count; ++i) {
    const Component& component = header_.components[i];
    const std::size_t stride = planes_.stride(i);
    std::uint8_t* rows = planes_.row(i, mcu_row * component.vertical * kBlockSide);
    rows += std::size_t{first_mcu} * component.horizontal * kBlockSide;
    const std::size_t row_bytes = kBlockSide * stride;
    std::size_t block = index;
    std::size_t full_count = 0;
    std::size_t flat_count = 0;
    for (std::size_t mcu = 0; mcu < count; ++mcu, rows += component.horizontal * kBlockSide) {
      for (std::size_t y = 0; y < component.vertical; ++y) {
        for (std::size_t x = 0; x < component.horizontal; ++x, ++block) {
          // Without a branch, which could not be predicted: to both, and one of them counts.
          const std::int16_t* coefficients = batch.block(block);
          std::uint8_t* out = rows + y * row_bytes + x * kBlockSide;
          full_[full_count] = {coefficients, out};
          flat_[flat_count] = {coefficients, out};
          full_count += batch.ac[block];
          flat_count += 1U - batch.ac[block];
        }
      }
    }
    idct_blocks(full_.data(), full_count, steps_[i], stride);
    fill_blocks(flat_.data(), flat_count, steps_[i], stride);
    index += component.horizontal * component.vertical * kBatchMcus;
  }
}

// Repeats the outer samples of chroma at the left and right edge of the picture. The encoder's
// padding does not count.
void Decoder::extend_edges(std::uint32_t mcu_row) {
  if (upsampling_ != Upsampling::kColumns && upsampling_ != Upsampling::kBoth) return;
  const std::uint32_t end = geometry_.chroma_width - mcu_left_ * kBlockSide;
  const bool right = end <= mcu_columns_ * kBlockSide;
  for (std::size_t i = 1; i < header_.component_count; ++i) {
    for (std::uint32_t y = 0; y < kBlockSide; ++y) {
      std::uint8_t* row = planes_.row(i, mcu_row * kBlockSide + y);
      row[-1] = row[0];
      if (right) row[end] = row[end - 1];
    }
  }
}

const std::uint8_t* Decoder::chroma_row(std::size_t component, std::uint32_t y) {
  const std::uint32_t wide = geometry_.horizontal;
  const std::uint32_t first = window_.left / wide;
  const std::uint32_t count = (window_.left + window_.width - 1) / wide - first + 1;
  const std::uint32_t offset = first - mcu_left_ * kBlockSide;
  const std::uint8_t* near = planes_.row(component, y / geometry_.vertical) + offset;
  const std::uint8_t* far = planes_.row(component, far_row(y)) + offset;
  auto* out = reinterpret_cast<std::uint8_t*>(upsampled_[component].data());
  switch (upsampling_) {
    case Upsampling::kNone:
      return near;
    case Upsampling::kRepeated:
      repeat_columns(near, count, wide, out);
      break;
    case Upsampling::kColumns:
      upsample_columns(near, count, out);
      break;
    case Upsampling::kRows:
      upsample_rows(near, far, y % 2 != 0, count, out);
      break;
    case Upsampling::kBoth:
      upsample_both(near, far, count, out);
      break;
  }
  return out + (window_.left - first * wide);
}

bool Decoder::read_row(std::uint8_t* out) {
  const std::uint32_t y = row_++;
  const std::uint32_t last = std::max(y / geometry_.vertical, far_row(y)) / kBlockSide;
  while (mcu_row_ <= last) {
    if (!decode_mcu_rows()) return false;
  }
  const std::uint8_t* luma =
      planes_.row(0, y) + window_.left - std::size_t{mcu_left_} * geometry_.horizontal * kBlockSide;
  if (header_.component_count == 3) {
    ycbcr_to_rgb(luma, chroma_row(1, y), chroma_row(2, y), window_.width, out);
  } else if (rgb_) {
    gray_to_rgb(luma, window_.width, out);
  } else {
    std::memcpy(out, luma, window_.width);
  }
  return true;
}

}  // namespace echoline::jpeg
