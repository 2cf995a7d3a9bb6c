#include "augment/transforms.h"

namespace echoline::augment {
namespace {

constexpr const Transform* kTransforms[] = {
    &kCenterCrop,    &kRandomCrop,
    &kResize,        &kRandomResizedCrop,
    &kMultiCrop,     &kHorizontalFlip,
    &kCutout,        &kColorJitter,
    &kNormalize,     &kPad,
    &kLetterbox,     &kPhotometricDistort,
    &kRandomIouCrop, &kSanitizeBoxes,
    &kRandAugment,   &kTrivialAugmentWide,
    &kAutoAugment,   &kRandomErasing,
    &kGaussianBlur,  &kGrayscale,
    &kSolarize,      &kPosterize,
    &kInvert,        &kEqualize,
    &kAutocontrast,  &kAdjustSharpness,
    &kAudioCrop,     &kAudioGain,
    &kAudioNoise,    &kLogMel,
    &kMfcc,          &kSpecAugment,
    &kPython,        &kPlugin,
};

}  // namespace

const Transform* find_transform(v1::Step::StepCase step) {
  for (const Transform* transform : kTransforms) {
    if (transform->step == step) return transform;
  }
  return nullptr;
}

}  // namespace echoline::augment
