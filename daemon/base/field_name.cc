#include "base/field_name.h"

#include <algorithm>
#include <cctype>

namespace echoline {

bool is_field_name(std::string_view name) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && name.size() <= kFieldNameMax &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

}  // namespace echoline
