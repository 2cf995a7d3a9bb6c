// The names of fields.
#pragma once

#include <cstddef>
#include <string_view>

namespace echoline {

// One less than the names in a ring, which end with a zero.
inline constexpr std::size_t kFieldNameMax = 63;

// Letters, digits and '_', no digit first, at most kFieldNameMax: also a name in Python and in C.
bool is_field_name(std::string_view name);

}  // namespace echoline
