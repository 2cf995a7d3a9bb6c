// Decodes baseline JPEG files, or a part of their pixels, bit for bit as libjpeg-turbo does. Also
// extended sequential ones with 8 bits and Huffman codes, which differ in their first marker only.
//
// The files of this folder in the order of the data, with the clauses of ITU-T T.81:
//   markers            header segments (B)
//   scan_bytes         the scan without stuffing (B.1.1.5, E.2.4)
//   bit_reader         its bits (F.2.2.5)
//   entropy_codes, huffman_table   symbols and their look-ups (F.1.2, C, F.2.2)
//   mcu                coefficients of blocks (F.2.2), in the order of zigzag (A.3.6)
//   scan, row_walk     MCU by MCU, row by row; seek_point: where a row begins (E.2, F.2.1)
//   idct, planes       samples of components (A.3.3, A.3.1)
//   upsampling, color_conversion   pixels: as libjpeg does it, and JFIF
//   reduced_decoder, reduced_idct  the same at 1/2, 1/4 or 1/8 of the sides
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "jpeg/geometry.h"
#include "jpeg/idct.h"
#include "jpeg/markers.h"
#include "jpeg/mcu.h"
#include "jpeg/planes.h"
#include "jpeg/row_walk.h"
#include "jpeg/seek_point.h"

namespace echoline::jpeg {

// One thread; reused from file to file. In this order: `open`, `start`, `read_row` for each row of
// the window, `finish`. The file must stay valid until then.
//
// False means that this decoder gives the file up: it is not of the kinds that it knows, or not as
// the standard wants it. Whether such a file is good, and what its pixels are, is for libjpeg-turbo
// to say.
class Decoder {
 public:
  bool open(Bytes file);
  const Header& header() const { return header_; }

  // `window` is not empty and within the picture. `rgb`: rows have three channels; else one, which
  // only gray files have. With the points of the file, which must stay valid until `finish`, only
  // the MCU rows of the window are decoded, and of these nothing right of it.
  bool start(const Window& window, bool rgb, SeekPoints points = {});
  // Writes the next row of the window, densely.
  bool read_row(std::uint8_t* out);
  // Decodes the rest of the scan, without pixels: the file is good. With points, it is known to be.
  bool finish() { return walk_.finish(); }
  // After `finish`: the points of the file. Empty if it was decoded with points, or cannot have
  // any.
  SeekPoints points() const { return walk_.found(); }

 private:
  // How a row of chroma gets the width of a row of pixels.
  enum class Upsampling : std::uint8_t { kNone, kRepeated, kColumns, kRows, kBoth };

  void choose_window();
  Upsampling choose_upsampling() const;
  // The next MCU row of the window, or two of them.
  bool decode_mcu_rows();
  // Makes the samples of the batch, which begins with MCU `first_mcu` of the window.
  void make_samples(const Batch& batch, std::uint32_t mcu_row, std::uint32_t first_mcu,
                    std::size_t count);
  void extend_edges(std::uint32_t mcu_row);
  // The row of chroma that has a part in row `y` besides its own.
  std::uint32_t far_row(std::uint32_t y) const;
  const std::uint8_t* chroma_row(std::size_t component, std::uint32_t y);

  Bytes file_;
  Header header_;
  Geometry geometry_;
  Window window_;
  bool rgb_ = true;
  Upsampling upsampling_ = Upsampling::kNone;
  // The MCUs that have pixels of the window, or neighbours of them.
  std::uint32_t mcu_left_ = 0;
  std::uint32_t mcu_columns_ = 0;
  std::uint32_t mcu_row_ = 0;  // the next one
  std::uint32_t mcu_row_end_ = 0;
  std::uint32_t row_ = 0;  // the next row of pixels
  std::array<Steps, kComponentsMax> steps_;
  RowWalk walk_;
  std::array<Batch, RowWalk::kRowsAtOnce> batches_;  // of one MCU row each
  // The blocks of a batch with and without AC coefficients.
  std::array<BlockTask, Batch::kBlocks> full_;
  std::array<BlockTask, Batch::kBlocks> flat_;
  Planes planes_;
  std::array<Buffer, kComponentsMax> upsampled_;
};

}  // namespace echoline::jpeg
