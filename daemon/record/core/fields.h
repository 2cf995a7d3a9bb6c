// Filling of Fields: values that do not stand in the record's bytes go to the scratch.
#pragma once

#include <span>
#include <string_view>

#include "record/core/format.h"

namespace echoline::record {

void clear_fields(Fields& fields);

// Copies `text` behind what the scratch holds. Earlier fields stay valid; the result does until the
// next clear_fields.
std::string_view keep(Fields& fields, std::string_view text);

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace echoline::record
