#include "decode/classes.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {

Classes::Classes(const v1::DecodeField& entry, std::int64_t first) {
  for (const std::string& name : entry.classes()) numbers_.emplace(name, first++);
}

Status Classes::check(const v1::DecodeField& entry) {
  std::set<std::string_view> names;
  for (const std::string& name : entry.classes()) {
    if (names.insert(name).second) continue;
    return {Code::kInvalidArgument, fmt::format("classes has {} twice; each class is listed once",
                                                quoted(std::as_bytes(std::span(name))))};
  }
  return {};
}

Result<std::int64_t> Classes::number_of(std::string_view name) const {
  std::int64_t number = 0;
  if (!numbers_.empty()) {
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
  } else {
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    if (error == std::errc() && stop == end) return number;
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} is not among the classes", quoted(std::as_bytes(std::span(name)))));
}

}  // namespace echoline::decode
