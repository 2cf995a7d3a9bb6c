// The operations that recipes of augmentation draw from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "recipes/affine.h"

namespace echoline::recipes {

// The first 14 in the order in which torchvision's RandAugment and TrivialAugmentWide list them: a
// draw is an index.
enum class Operation : std::uint8_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
  kInvert,
  kGrayscale
};
constexpr std::uint32_t kDrawnOperations = 14;

// What an operation gets: the tangent of a shear, whole pixels of a translation, degrees counter-
// clockwise, a factor (1 changes nothing), bits, a threshold up to 255; 0 where it gets nothing.
struct Change {
  Operation operation = Operation::kIdentity;
  double amount = 0;
};

// The changes of one use, first to last. Of a fixed size, so that a draw allocates nothing.
class Changes {
 public:
  static constexpr std::size_t kMax = 16;

  // At most kMax of them.
  void add(const Change& change) { changes_[count_++] = change; }
  std::span<const Change> span() const { return {changes_.data(), count_}; }

 private:
  std::array<Change, kMax> changes_{};
  std::size_t count_ = 0;
};

// The way from the result back to the source; nothing if the operation moves no pixel.
std::optional<Affine> motion_of(const Change& change, const ImageSize& size);

}  // namespace echoline::recipes
