// Filling of Fields: values that do not stand in the record's bytes go to the scratch.
#pragma once

#include <string_view>

#include "record/core/data_set.h"
#include "record/core/text.h"

namespace echoline::record {

void clear_fields(Fields& fields);

// Copies `text` behind what the scratch holds. Earlier fields stay valid; the result does until the
// next clear_fields.
std::string_view copy_to_scratch(Fields& fields, std::string_view text);

}  // namespace echoline::record
