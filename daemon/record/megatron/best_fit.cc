#include "record/megatron/best_fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace echoline::record {
namespace {

// They take about 50 bytes each while they are packed.
constexpr std::uint64_t kPiecesMax = 100'000'000;
constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

std::uint64_t count_pieces(std::span<const std::uint64_t> begin, std::uint32_t row_tokens) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    count += (begin[i + 1] - begin[i] + row_tokens - 1) / row_tokens;
  }
  return count;
}

// In the order of the file.
std::vector<Piece> pieces_of(std::span<const std::uint64_t> begin, std::uint32_t row_tokens,
                             std::uint64_t count) {
  std::vector<Piece> pieces;
  pieces.reserve(count);
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    for (std::uint64_t at = begin[i]; at < begin[i + 1]; at += pieces.back().tokens) {
      const std::uint64_t rest = begin[i + 1] - at;
      pieces.push_back({at, static_cast<std::uint32_t>(std::min<std::uint64_t>(rest, row_tokens))});
    }
  }
  return pieces;
}

// The rows with room, by the number of tokens that fit.
class OpenRows {
 public:
  explicit OpenRows(std::uint32_t row_tokens) : row_tokens_(row_tokens) {}

  // The row for a piece of this length.
  std::uint32_t place(std::uint32_t tokens) {
    const auto fullest = rows_.lower_bound(tokens);
    if (fullest == rows_.end()) return keep(next_row_++, row_tokens_ - tokens);
    const std::uint32_t room = fullest->first, row = fullest->second.back();
    fullest->second.pop_back();
    if (fullest->second.empty()) rows_.erase(fullest);
    return keep(row, room - tokens);
  }
  std::uint32_t rows() const { return next_row_; }

 private:
  std::uint32_t keep(std::uint32_t row, std::uint32_t room) {
    if (room > 0) rows_[room].push_back(row);
    return row;
  }

  const std::uint32_t row_tokens_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> rows_;
  std::uint32_t next_row_ = 0;
};

// Renumbers rows by their first pieces; returns how many pieces each has.
std::vector<std::uint32_t> order_rows(std::vector<std::uint32_t>& row_of, std::uint32_t rows) {
  std::vector<std::uint32_t> number(rows, kNoRow), pieces;
  for (std::uint32_t& row : row_of) {
    if (number[row] == kNoRow) {
      number[row] = static_cast<std::uint32_t>(pieces.size());
      pieces.push_back(0);
    }
    row = number[row];
    ++pieces[row];
  }
  return pieces;
}

}  // namespace

Result<FilledRows> fill_rows(std::span<const std::uint64_t> begin, std::uint32_t row_tokens) {
  // Before any memory is taken.
  const std::uint64_t count = count_pieces(begin, row_tokens);
  if (count > kPiecesMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("best_fit packs at most {} documents of one file (longer ones count "
                              "once for each row), here are {}; use method cut",
                              kPiecesMax, count));
  }
  const std::vector<Piece> pieces = pieces_of(begin, row_tokens, count);
  std::vector<std::uint32_t> order(pieces.size()), row_of(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&pieces](std::uint32_t a, std::uint32_t b) {
    return pieces[a].tokens > pieces[b].tokens;
  });
  OpenRows open(row_tokens);
  for (const std::uint32_t piece : order) row_of[piece] = open.place(pieces[piece].tokens);
  const std::vector<std::uint32_t> counts = order_rows(row_of, open.rows());
  FilledRows rows;
  rows.begin.resize(pieces.size());
  rows.tokens.resize(pieces.size());
  rows.row_end.resize(counts.size());
  // Where the next piece of each row goes, which ends as the end of the row.
  std::exclusive_scan(counts.begin(), counts.end(), rows.row_end.begin(), std::uint64_t{0});
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    const std::uint64_t at = rows.row_end[row_of[piece]]++;
    rows.begin[at] = pieces[piece].begin;
    rows.tokens[at] = pieces[piece].tokens;
  }
  return rows;
}

}  // namespace echoline::record
