// The table of the augmentation steps. To add one: docs/contributing.md. Its Transform is in a .cc
// file of this folder, declared here, and named in transforms.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "augment/field_program.h"
#include "augment/sample_step.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {

// One kind of step. Its name in the configuration is the name of its field in v1::Step. It has one
// of the two functions; both get the step's number for its random draws. kInvalidArgument names the
// setting and the values that are allowed.
struct Transform {
  v1::Step::StepCase step;
  // Checks the settings and adds the step to the program of the image field that it works on, named
  // by the setting `field`.
  Status (*compile)(const v1::Step& step, std::uint8_t number, FieldProgram& program) = nullptr;
  // Makes a step that reads and writes whole samples, whose fields are `inputs`.
  Result<std::unique_ptr<SampleStep>> (*make)(const v1::Step& step, std::uint8_t number,
                                              const std::vector<decode::FieldType>& inputs) =
      nullptr;
  // Makes the same of the same sample each time and anywhere: it draws nothing and runs no code of
  // users. So it may come before `prepare`.
  bool is_pure = false;
};

// Null for a step that is not an augmentation.
const Transform* find_transform(v1::Step::StepCase step);

extern const Transform kCenterCrop;
extern const Transform kRandomCrop;
extern const Transform kResize;
extern const Transform kRandomResizedCrop;
extern const Transform kMultiCrop;
extern const Transform kHorizontalFlip;
extern const Transform kCutout;
extern const Transform kColorJitter;
extern const Transform kNormalize;
extern const Transform kPad;
extern const Transform kLetterbox;
extern const Transform kPhotometricDistort;
extern const Transform kRandomIouCrop;
extern const Transform kSanitizeBoxes;
extern const Transform kRandAugment;
extern const Transform kTrivialAugmentWide;
extern const Transform kAutoAugment;
extern const Transform kRandomErasing;
extern const Transform kGaussianBlur;
extern const Transform kGrayscale;
extern const Transform kSolarize;
extern const Transform kPosterize;
extern const Transform kInvert;
extern const Transform kEqualize;
extern const Transform kAutocontrast;
extern const Transform kAdjustSharpness;
extern const Transform kAudioCrop;
extern const Transform kAudioGain;
extern const Transform kAudioNoise;
extern const Transform kLogMel;
extern const Transform kMfcc;
extern const Transform kSpecAugment;
extern const Transform kPython;
extern const Transform kPlugin;
// Not a step of its own: makes the samples of `read` with a data set in Python.
extern const Transform kPythonDataSet;

}  // namespace echoline::augment
