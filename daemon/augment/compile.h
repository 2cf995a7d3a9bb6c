// Compiles the augmentation steps of a pipeline into one program per field.
#pragma once

#include <vector>

#include "augment/field_program.h"
#include "base/status.h"
#include "decode/sample.h"

namespace echoline::v1 {
class Stream;
}

namespace echoline::augment {

// One program per field, in the order of `inputs`. kInvalidArgument names the step and what is
// wrong with it.
Result<std::vector<FieldProgram>> compile_program(const v1::Stream& stream,
                                                  const std::vector<decode::FieldType>& inputs);

}  // namespace echoline::augment
