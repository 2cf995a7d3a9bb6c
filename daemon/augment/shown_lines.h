// Which row and column of a source each row and column of a moved mask shows, and the moves that
// change only this.
#pragma once

#include <cstdint>
#include <vector>

#include "augment/mover.h"
#include "decode/image_reader.h"

namespace echoline::augment {

// A row or column that the source does not have.
inline constexpr std::uint32_t kAddedLine = UINT32_MAX;

// Follows a picture with the nearest pixel, as torchvision.transforms.v2 does it for masks. Rows
// that the source has follow each other in its order, so do columns, in either direction.
struct ShownLines {
  std::vector<std::uint32_t> rows, columns, spare;

  // All rows and columns of a source.
  void start(const decode::ImageSize& size);
  void cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size);
  void scale(const decode::ImageSize& to);
  void mirror();

  decode::ImageSize size() const {
    return {static_cast<std::uint32_t>(rows.size()), static_cast<std::uint32_t>(columns.size())};
  }
};

// What movers of masks have in common: all moves but `move`.
class LinesMover : public Mover {
 public:
  void cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) final {
    lines_.cut(top, left, size);
  }
  void scale(const decode::ImageSize&, const decode::ImageSize& to) final { lines_.scale(to); }
  void mirror(std::uint32_t) final { lines_.mirror(); }

 protected:
  // `lines` must outlive this.
  explicit LinesMover(ShownLines& lines) : lines_(lines) {}
  ShownLines& lines() { return lines_; }
  const ShownLines& lines() const { return lines_; }

 private:
  ShownLines& lines_;
};

}  // namespace echoline::augment
