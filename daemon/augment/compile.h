// Compiles the augmentation steps of a pipeline.
#pragma once

#include <vector>

#include "augment/chain.h"
#include "base/status.h"
#include "decode/sample.h"

namespace echoline::v1 {
class Stream;
}

namespace echoline::augment {

// The steps on samples with the fields `inputs`. kInvalidArgument names the step and what is wrong
// with it.
Result<ChainParts> compile_steps(const v1::Stream& stream,
                                 const std::vector<decode::FieldType>& inputs);

}  // namespace echoline::augment
