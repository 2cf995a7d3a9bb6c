// Fills Fields; values that are not in the record's bytes go to the scratch.
#pragma once

#include <string_view>

#include "record/core/data_set.h"
#include "record/core/text.h"

namespace echoline::record {

// The names under which every record also has its key and the address of its shard.
inline constexpr std::string_view kKeyField = "__key__";
inline constexpr std::string_view kUrlField = "__url__";

void clear_fields(Fields& fields);

// Appends `text` to the scratch and returns the copy. The scratch may move: fields that point into
// it are adjusted, other views become invalid. Valid until clear_fields.
std::string_view copy_to_scratch(Fields& fields, std::string_view text);

// Adds the fields kKeyField and kUrlField to a record that was cut.
void add_origin(std::string_view key, std::string_view url, Fields& fields);

}  // namespace echoline::record
