// The passes of a resize for CPUs that multiply bytes (AVX-512 with VNNI and VBMI): one instruction
// adds four taps of 16 values. A weight of 22 bits is split into three signed bytes, so results are
// exact: the same bytes as those of the other loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "augment/resize_weights.h"
#include "augment/view.h"
#include "base/buffer.h"

namespace echoline::augment {

// The weights in the form of these loops: tables of vectors of 64 bytes.
class ByteWeights {
 public:
  static constexpr std::size_t kVector = 64;
  static constexpr std::size_t kPlanes = 3;   // bytes of a weight, the lowest first
  static constexpr std::size_t kOutputs = 5;  // pixels of one step of the horizontal pass

  // Some outputs of the horizontal pass, which take their pixels from the same load.
  struct Group {
    std::uint32_t first = 0;  // byte of the row
    std::uint32_t quads = 0;  // steps of four taps
    std::size_t places = 0;   // in `vectors`: where each tap is in the load, then the weights
  };

  // False if these weights do not fit: then another loop must do it.
  bool make_rows(const Weights& weights);
  bool make_columns(const Weights& weights);

  const std::vector<Group>& groups() const { return groups_; }
  const std::uint8_t* vector(std::size_t place) const {
    return reinterpret_cast<const std::uint8_t*>(vectors_.data()) + place * kVector;
  }
  // Of the vertical pass: kPlanes numbers for each four taps of an output.
  const std::uint32_t* column_quads(std::size_t output) const {
    return quads_.data() + output * quad_stride_;
  }

 private:
  std::vector<Group> groups_;
  Buffer vectors_;
  std::vector<std::uint32_t> quads_;
  std::size_t quad_stride_ = 0;
};

// Whether this CPU has the instructions.
bool has_byte_products();

// The loads of a row reach so far beyond its last pixel.
inline constexpr std::size_t kByteLoad = ByteWeights::kVector;

// As resize_rows and resize_columns in resize_passes.h, for three channels and for at least
// ByteWeights::kVector bytes in a row. `last_row` has the last row, and kByteLoad bytes after it.
void byte_rows(const View& view, const ByteWeights& weights, std::size_t outputs,
               const std::uint8_t* last_row, std::uint8_t* out);
void byte_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                  const Weights& weights, const ByteWeights& bytes, std::uint8_t* out);

}  // namespace echoline::augment
