// Decodes baseline JPEG files to a half, a quarter or an eighth of their height and width, with the
// pixels of libjpeg-turbo's scaled decoding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "jpeg/geometry.h"
#include "jpeg/idct.h"
#include "jpeg/markers.h"
#include "jpeg/mcu.h"
#include "jpeg/row_walk.h"
#include "jpeg/seek_point.h"

namespace echoline::jpeg {

// One thread; reused from file to file. False means that this decoder gives the file up, as with
// Decoder: whether it is good is for libjpeg-turbo to say.
class ReducedDecoder {
 public:
  // Whether luma and chroma get the same size: gray, 4:4:4 and 4:2:0.
  static bool takes(const Header& header);

  // `header` is that of the file, which must stay valid until `finish`. `window` counts reduced
  // pixels, and is within the size divided by `by` (2, 4 or 8), rounded up. `rgb`: as for Decoder.
  // `points`: as for Decoder.
  bool start(const Header& header, Bytes file, const Window& window, std::uint32_t by, bool rgb,
             SeekPoints points = {});
  // Writes the next row of the window, densely.
  bool read_row(std::uint8_t* out);
  // Decodes the rest of the scan, without pixels: the file is good. With points, it is known to be.
  bool finish() { return walk_.finish(); }
  // After `finish`: the points of the file, as Decoder's.
  SeekPoints points() const { return walk_.found(); }

 private:
  // What the sides of the component's blocks are divided by.
  std::uint32_t component_by(std::size_t component) const;
  // The next MCU row of the window, or two of them.
  bool decode_mcu_rows();
  void make_samples(const Batch& batch, std::uint32_t mcu_row, std::uint32_t first_mcu,
                    std::size_t count);
  // Row `y` of the component's samples; valid while its MCU row is one of the last two.
  std::uint8_t* row(std::size_t component, std::size_t y);

  Header header_;
  Geometry geometry_;
  Window window_;
  std::uint32_t by_ = 2;
  std::uint32_t side_ = 0;  // of an MCU, in reduced pixels
  bool rgb_ = true;
  // The MCUs that have pixels of the window.
  std::uint32_t mcu_left_ = 0;
  std::uint32_t mcu_columns_ = 0;
  std::uint32_t mcu_row_ = 0;  // the next one
  std::uint32_t row_ = 0;      // the next row of pixels
  std::array<Steps, kComponentsMax> steps_;
  RowWalk walk_;
  std::array<Batch, RowWalk::kRowsAtOnce> batches_;  // of one MCU row each
  // The blocks of a batch with and without AC coefficients.
  std::array<BlockTask, Batch::kBlocks> full_;
  std::array<BlockTask, Batch::kBlocks> flat_;
  std::size_t stride_ = 0;
  Buffer samples_;  // of the last two MCU rows, component by component
};

}  // namespace echoline::jpeg
