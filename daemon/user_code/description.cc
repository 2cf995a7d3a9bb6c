#include "user_code/description.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/field_name.h"
#include "user_code/message.h"

namespace echoline::user_code {
namespace {

using nlohmann::json;

Status misdescribed(std::string_view text) {
  return Status(Code::kInvalidArgument, fmt::format("plugin: its description {}", text));
}

// The number, at most `max`; `max` + 1 if it is none.
std::uint64_t number(const json& object, const char* key, std::uint64_t max) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return max + 1;
  return std::min(found->get<std::uint64_t>(), max + 1);
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

Result<decode::Shape> parse_shape(const json& object) {
  const auto found = object.find("shape");
  if (found == object.end() || !found->is_array() || found->size() > decode::kRankMax)
    return misdescribed("has a field without a shape");
  decode::Shape shape;
  for (const json& size : *found) {
    if (!size.is_number_unsigned() ||
        size.get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max())
      return misdescribed("has a field with a wrong size");
    shape.sizes[shape.rank++] = size.get<std::uint32_t>();
  }
  return shape;
}

// Fixed sizes, and the largest one of rows, are at least 1, and their product is bounded.
Status check_sizes(const decode::FieldType& type, std::uint64_t bytes_max) {
  std::uint64_t left = bytes_max / shm::dtype_bytes(type.dtype);
  for (const std::uint32_t size : type.shape.span()) {
    if (size == 0) return misdescribed(fmt::format("has the size 0 in field {}", type.name));
    left /= size;
  }
  if (left > 0) return {};
  return misdescribed(
      fmt::format("needs more than sample_bytes, {}, for field {}", bytes_max, type.name));
}

Result<decode::FieldType> parse_field(const json& object, std::uint64_t bytes_max) {
  if (!object.is_object()) return misdescribed("is no list of fields");
  decode::FieldType type;
  type.name = text(object, "name");
  if (!is_field_name(type.name)) return misdescribed("has a field with a name that is none");
  const auto dtype = static_cast<std::uint32_t>(number(object, "dtype", shm::kBfloat16));
  if (shm::dtype_bytes(dtype) == 0) return misdescribed("has a field of no type");
  type.dtype = static_cast<shm::DType>(dtype);
  ECHOLINE_ASSIGN(type.shape, parse_shape(object));
  const std::string form = text(object, "form");
  const std::uint32_t channels = type.shape.rank == 3 ? type.shape.sizes[2] : 0;
  const bool may_be_image = type.dtype == shm::kUint8 && (channels == 1 || channels == 3);
  type.ragged = form == "ragged" && type.shape.rank > 0;
  type.fixed = form == "fixed";
  type.image = may_be_image && (type.fixed || form == "picture");
  if (type.fixed || type.ragged) {
    ECHOLINE_TRY(check_sizes(type, bytes_max));
    return type;
  }
  if (!type.image) return misdescribed(fmt::format("has the unknown form of field {}", type.name));
  type.shape = {{0, 0, channels}, 3};
  return type;
}

}  // namespace

Result<std::vector<decode::FieldType>> parse_outputs(std::string_view description,
                                                     std::uint64_t bytes_max) {
  const json list = json::parse(description, nullptr, false);
  if (!list.is_array() || list.empty() || list.size() > kFieldsMax)
    return misdescribed("is no list of 1 to 256 fields");
  std::vector<decode::FieldType> types;
  for (const json& object : list) {
    ECHOLINE_ASSIGN(decode::FieldType type, parse_field(object, bytes_max));
    if (std::ranges::find(types, type.name, &decode::FieldType::name) != types.end())
      return misdescribed(fmt::format("has the field {} twice", type.name));
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace echoline::user_code
