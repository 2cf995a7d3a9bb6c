// The operations that cut a picture of one size out of another one.
#pragma once

#include <cstdint>

#include "augment/op.h"

namespace echoline::augment {

// The top left corner of a crop, in pixels of the picture; negative in the padding.
struct Corner {
  std::int64_t top = 0;
  std::int64_t left = 0;
};

// A crop within the picture only changes the view; a crop with padding copies pixels.
class Crop : public Op {
 public:
  Crop(const ImageSize& size, std::uint8_t fill) : size_(size), fill_(fill) {}

  const ImageSize& size() const { return size_; }
  virtual Corner corner(const UseKey& key, const ImageSize& in) const = 0;
  // Whether it is within every picture that is at least as large as the crop.
  virtual bool stays_within() const = 0;

  std::optional<ImageSize> fixed_size() const override { return size_; }
  std::optional<Box> part(const UseKey& key, const ImageSize& in) const override;
  bool moves_points() const override { return true; }
  void move(const UseKey& key, const ImageSize& in, Mover& mover) const override;
  void apply(const Work& work, Picture& picture, bool in_row) const override;

 private:
  const ImageSize size_;
  const std::uint8_t fill_;  // of the padding
};

}  // namespace echoline::augment
