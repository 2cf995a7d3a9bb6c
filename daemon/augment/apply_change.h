// Applies an operation of a recipe to the picture of a program.
#pragma once

#include "augment/op.h"
#include "recipes/change.h"

namespace echoline::augment {

// `resampling` is for operations that move pixels. `in_row` as in Op::apply.
void apply_change(const recipes::Change& change, const recipes::Resampling& resampling,
                  Picture& picture, bool in_row);

}  // namespace echoline::augment
