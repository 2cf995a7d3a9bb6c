// Fills Fields; values that are not in the record's bytes go to the scratch.
#pragma once

#include <string_view>

#include "record/core/data_set.h"
#include "record/core/text.h"

namespace echoline::record {

void clear_fields(Fields& fields);

// Appends `text` to the scratch and returns the copy. The scratch may move: fields that point into
// it are adjusted, other views become invalid. Valid until clear_fields.
std::string_view copy_to_scratch(Fields& fields, std::string_view text);

}  // namespace echoline::record
