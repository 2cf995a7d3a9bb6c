// Best-fit decreasing: fills rows of one length with whole documents.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace echoline::record {

// A document, or a part of one, in a row.
struct Piece {
  std::uint64_t begin = 0;  // in tokens from the start of the file
  std::uint32_t tokens = 0;
};

// The pieces of all rows of a file, row by row: 12 bytes for each piece and 8 for each row.
struct FilledRows {
  std::vector<std::uint64_t> begin;    // of pieces
  std::vector<std::uint32_t> tokens;   // of pieces
  std::vector<std::uint64_t> row_end;  // in pieces
};

// `begin` has one number more than documents, as Sequences::begin. A document that is longer than a
// row is cut into full rows and a rest. Then, from the longest piece to the shortest, each goes
// into the fullest row that has room for it; of equal pieces the first in the file goes first.
// Rows, and the pieces in a row, are in the order of the file, a row at the place of its first
// piece. So the result depends on the lengths only. kResourceExhausted for more pieces than
// docs/limits.md has.
Result<FilledRows> fill_rows(std::span<const std::uint64_t> begin, std::uint32_t row_tokens);

}  // namespace echoline::record
