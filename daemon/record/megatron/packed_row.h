// The arrays of one row of packed documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/arrays/array_header.h"
#include "record/core/data_set.h"
#include "record/megatron/best_fit.h"

namespace echoline::record {

// The label of a place that has none: PyTorch's losses leave it out.
inline constexpr std::int64_t kNoLabel = -100;

struct RowForm {
  std::uint32_t length = 0;  // tokens of a row
  std::int32_t padding = 0;  // the token behind the last piece
};

// Fills the fields of a row, each of `form.length` elements:
//   tokens     int32: those of the pieces, then padding
//   labels     int64: the next token of the same piece; kNoLabel at its end and in the padding
//   loss_mask  uint8: 1 where there is a label
//   positions  int32: 0, 1, ... in each piece; 0 in the padding
//   segments   int32: 1, 2, ... for the pieces; 0 for the padding
// `bytes` are the tokens of the pieces, one piece after the other. kDataLoss for a token that is
// larger than an int32.
Status fill_packed_row(const RowForm& form, const ElementType& type,
                       const std::vector<Piece>& pieces, std::span<const std::byte> bytes,
                       Fields& fields);

}  // namespace echoline::record
