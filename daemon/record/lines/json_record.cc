#include "record/lines/json_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "record/core/fields.h"

namespace echoline::record {
namespace {

using Json = nlohmann::json;

// The text of nested values is made by recursion.
constexpr int kDepthMax = 64;

bool depth_within(const Json& value, int levels) {
  if (!value.is_structured()) return true;
  return levels > 0 && std::all_of(value.begin(), value.end(), [levels](const Json& member) {
           return depth_within(member, levels - 1);
         });
}

void put(std::string_view name, std::string_view bytes, Fields& fields) {
  // The name first: adding the bytes moves it with its field.
  fields.fields.push_back({copy_to_scratch(fields, name), {}});
  const std::size_t at = fields.fields.size() - 1;
  fields.fields[at].bytes = as_bytes(copy_to_scratch(fields, bytes));
}

template <typename T>
void put_elements(std::string_view name, std::string_view type, const Json& array, Fields& fields) {
  thread_local std::string elements;  // static: keeps its capacity
  elements.clear();
  for (const Json& number : array) {
    const T value = number.get<T>();
    elements.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  put(fmt::format("{}[{}]", name, type), elements, fields);
}

// Integers that are not negative are unsigned, and may be too large.
bool fits_int64(const Json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || std::in_range<std::int64_t>(value.get<std::uint64_t>()));
}

void put_array(std::string_view name, const Json& array, Fields& fields) {
  const auto all = [&array](bool (Json::*is)() const noexcept) {
    return std::all_of(array.begin(), array.end(),
                       [is](const Json& value) { return (value.*is)(); });
  };
  if (!all(&Json::is_number)) return;
  put_elements<float>(name, "float32", array, fields);
  if (std::all_of(array.begin(), array.end(), fits_int64))
    put_elements<std::int64_t>(name, "int64", array, fields);
}

Status put_member(const std::string& name, const Json& value, Fields& fields) {
  if (value.is_null()) return {};
  if (value.is_string()) {
    put(name, value.get_ref<const std::string&>(), fields);
    return {};
  }
  if (value.is_boolean()) {
    put(name, value.get<bool>() ? "1" : "0", fields);
    return {};
  }
  if (!depth_within(value, kDepthMax)) {
    return Status(Code::kDataLoss,
                  fmt::format("member '{}' is nested more than {} levels deep", name, kDepthMax));
  }
  put(name, value.dump(), fields);
  if (value.is_array()) put_array(name, value, fields);
  return {};
}

}  // namespace

Status cut_json_record(std::span<const std::byte> json, Fields& fields) {
  clear_fields(fields);
  const Json record = Json::parse(as_text(json), nullptr, false);
  if (record.is_discarded()) {
    return Status(Code::kDataLoss, "the line is not JSON, or not in UTF-8");
  }
  if (!record.is_object()) return Status(Code::kDataLoss, "the line is no JSON object");
  for (const auto& [name, value] : record.items()) {
    ECHOLINE_TRY(put_member(name, value, fields));
  }
  return {};
}

}  // namespace echoline::record
