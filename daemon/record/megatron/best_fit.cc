#include "record/megatron/best_fit.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace echoline::record {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

// In the order of the file.
std::vector<Piece> pieces_of(std::span<const std::uint64_t> begin, std::uint32_t row_tokens) {
  std::vector<Piece> pieces;
  pieces.reserve(begin.size());
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
  const std::vector<Piece> pieces = pieces_of(begin, row_tokens);
  if (pieces.size() >= kNoRow) {
    return Status(Code::kResourceExhausted,
                  "best_fit packs at most 4294967294 documents of one file; use method cut");
  }
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
