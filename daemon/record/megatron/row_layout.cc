#include "record/megatron/row_layout.h"

#include <algorithm>
#include <utility>

#include "echoline/v1/config.pb.h"

namespace echoline::record {
namespace {

// Every `length` tokens of the file are a row; only the last one can be shorter.
class CutRows final : public RowLayout {
 public:
  CutRows(const Sequences& sequences, std::uint32_t length)
      : begin_(sequences.begin), length_(length) {}

  std::uint64_t rows() const override { return (begin_.back() + length_ - 1) / length_; }
  bool in_order() const override { return true; }
  std::vector<Piece> pieces(std::uint64_t row) const override {
    const std::uint64_t end = std::min((row + 1) * length_, begin_.back());
    std::uint64_t at = row * length_;
    // The end of the document that the row begins in.
    auto document_end = std::upper_bound(begin_.begin(), begin_.end(), at);
    std::vector<Piece> pieces;
    for (; at < end; ++document_end) {
      const std::uint64_t piece_end = std::min(*document_end, end);
      pieces.push_back({at, static_cast<std::uint32_t>(piece_end - at)});
      at = piece_end;
    }
    return pieces;
  }

 private:
  const std::vector<std::uint64_t>& begin_;
  const std::uint64_t length_;
};

class BestFitRows final : public RowLayout {
 public:
  explicit BestFitRows(FilledRows filled) : filled_(std::move(filled)) {}

  std::uint64_t rows() const override { return filled_.row_end.size(); }
  bool in_order() const override { return false; }
  std::vector<Piece> pieces(std::uint64_t row) const override {
    std::vector<Piece> pieces;
    for (std::uint64_t i = row == 0 ? 0 : filled_.row_end[row - 1]; i < filled_.row_end[row]; ++i) {
      pieces.push_back({filled_.begin[i], filled_.tokens[i]});
    }
    return pieces;
  }

 private:
  const FilledRows filled_;
};

}  // namespace

Result<std::unique_ptr<RowLayout>> make_row_layout(const v1::Pack& pack,
                                                   const Sequences& sequences) {
  const auto length = static_cast<std::uint32_t>(pack.length());
  if (pack.method() != "best_fit") {
    return std::unique_ptr<RowLayout>(std::make_unique<CutRows>(sequences, length));
  }
  ECHOLINE_ASSIGN(FilledRows filled, fill_rows(sequences.begin, length));
  return std::unique_ptr<RowLayout>(std::make_unique<BestFitRows>(std::move(filled)));
}

}  // namespace echoline::record
