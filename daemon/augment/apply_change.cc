#include "augment/apply_change.h"

#include "augment/color_jitter.h"
#include "recipes/neighbours.h"
#include "recipes/tones.h"

namespace echoline::augment {
namespace {

using recipes::Change;
using recipes::Operation;

// The operations whose result for a pixel does not depend on its place.
void change_in_place(const Change& change, std::uint8_t* pixels, std::size_t count,
                     std::uint32_t channels) {
  const std::span<std::uint8_t> all(pixels, count * channels);
  const auto factor = static_cast<float>(change.amount);
  switch (change.operation) {
    case Operation::kBrightness:
      return adjust_brightness(pixels, all.size(), factor);
    case Operation::kColor:
      return adjust_saturation(pixels, count, channels, factor);
    case Operation::kContrast:
      return adjust_contrast(pixels, count, channels, factor);
    case Operation::kPosterize:
      return recipes::posterize(all, static_cast<int>(change.amount));
    case Operation::kSolarize:
      return recipes::solarize(all, change.amount);
    case Operation::kAutoContrast:
      return recipes::autocontrast(all, channels);
    case Operation::kEqualize:
      return recipes::equalize(all, channels);
    case Operation::kInvert:
      return recipes::invert(all);
    case Operation::kGrayscale:
      return recipes::make_gray(all, channels);
    default:
      return;
  }
}

}  // namespace

void apply_change(const Change& change, const recipes::Resampling& resampling, Picture& picture,
                  bool in_row) {
  if (change.operation == Operation::kIdentity) return;
  const ImageSize size = picture.size();
  const auto motion = motion_of(change, size);
  if (!motion && change.operation != Operation::kSharpness) {
    std::uint8_t* pixels = picture.editable(in_row);
    return change_in_place(change, pixels, size.pixels(), picture.channels());
  }
  const recipes::Pixels source = picture.unmirrored();
  std::uint8_t* room = picture.room(size, in_row);
  if (motion) {
    recipes::transform(source, *motion, resampling, room);
  } else {
    recipes::adjust_sharpness(source, static_cast<float>(change.amount), room);
  }
  picture.take(room, size, false);
}

}  // namespace echoline::augment
