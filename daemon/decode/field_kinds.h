// The table of what a field can be decoded as: the values of `as` in the `decode` step.
#pragma once

#include <string>
#include <string_view>

#include "decode/field.h"

namespace echoline::decode {

struct FieldKind {
  std::string_view name;  // the value of `as`
  // Compiles an entry with this `as`. kInvalidArgument says which setting is wrong.
  FieldResult (*make)(const v1::DecodeField& entry);
  bool image = false;  // the only kinds that `fast` is allowed for, and `exif`
  bool audio = false;  // the only kind that `rate` and so on are allowed for
  bool mask = false;   // a picture of class ids: `exif` is allowed
};

// Null if no kind has this name.
const FieldKind* find_field_kind(std::string_view name);
// "rgb, gray, ...", for error messages.
std::string field_kind_names();

}  // namespace echoline::decode
