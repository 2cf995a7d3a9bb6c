// The table of the augmentation steps. To add one: docs/contributing.md. Its Transform is in a .cc
// file of this folder, declared here, and named in transforms.cc.
#pragma once

#include <cstdint>

#include "augment/field_program.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {

// One kind of step. Its name in the configuration is the name of its field in v1::Step.
struct Transform {
  v1::Step::StepCase step;
  // Checks the settings and adds the step to the program of the image field that it works on.
  // `number` is the step's number for its random draws. kInvalidArgument names the setting and the
  // values that are allowed.
  Status (*compile)(const v1::Step& step, std::uint8_t number, FieldProgram& program);
};

// Null for a step that is not an augmentation.
const Transform* find_transform(v1::Step::StepCase step);

extern const Transform kCenterCrop;
extern const Transform kRandomCrop;
extern const Transform kResize;
extern const Transform kRandomResizedCrop;
extern const Transform kHorizontalFlip;
extern const Transform kCutout;
extern const Transform kColorJitter;
extern const Transform kNormalize;

}  // namespace echoline::augment
