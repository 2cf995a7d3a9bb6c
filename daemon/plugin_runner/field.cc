#include "plugin_runner/field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "echoline/shm/dtype.h"
#include "plugin_runner/failure.h"

namespace echoline::plugin_runner {
namespace {

using Form = Field::Form;
using nlohmann::json;

constexpr const char* kFormNames[] = {"fixed", "ragged", "picture", "rank"};

std::uint32_t shm_dtype(DLDataType type) {
  for (std::uint32_t dtype = shm::kUint8; dtype <= shm::kBfloat16; ++dtype) {
    const DLDataType same = dl_type(dtype);
    if (same.code == type.code && same.bits == type.bits && type.lanes == 1) return dtype;
  }
  return 0;
}

// The form of an output; throws if it has none.
Form form_of(const Field& field, std::int64_t max_length) {
  const std::vector<std::int64_t>& sizes = field.shape;
  const auto known = [](std::int64_t size) { return size >= 1; };
  const bool rest_known = !sizes.empty() && std::all_of(sizes.begin() + 1, sizes.end(), known);
  if (max_length == 0 && std::ranges::all_of(sizes, known)) return Form::kFixed;
  const bool any_first = !sizes.empty() && sizes[0] == ECHOLINE_PLUGIN_ANY_SIZE;
  if (any_first && rest_known && max_length >= 1) return Form::kRagged;
  const bool picture = any_first && sizes.size() == 3 && sizes[1] == ECHOLINE_PLUGIN_ANY_SIZE &&
                       (sizes[2] == 1 || sizes[2] == 3) && field.dtype == shm::kUint8;
  if (picture && max_length == 0) return Form::kPicture;
  fail(
      "describe: field {} cannot be {} {} with max_length {}; allowed are fixed sizes, [-1, ...] "
      "with max_length, and uint8 [-1, -1, 1 or 3]",
      field.name, shm::dtype_name(field.dtype), shape_text(sizes), max_length);
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

bool Field::fits(std::span<const std::int64_t> sizes) const {
  if (sizes.size() != shape.size()) return false;
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; })) return false;
  switch (form) {
    case Form::kFixed:
      return std::ranges::equal(sizes, shape);
    case Form::kRagged:
      return sizes[0] <= shape[0] &&
             std::ranges::equal(sizes.subspan(1), std::span(shape).subspan(1));
    case Form::kPicture:
      return sizes[0] > 0 && sizes[1] > 0 && sizes[2] == shape[2];
    case Form::kAxes:
      return true;
  }
  return false;
}

std::string Field::declared() const {
  const std::string_view type = shm::dtype_name(dtype);
  if (form == Form::kFixed) return fmt::format("{} {}", type, shape_text(shape));
  if (form == Form::kRagged) return fmt::format("{} [up to {}]", type, fmt::join(shape, ", "));
  return fmt::format("{} [height, width, {}]", type, shape.back());
}

DLDataType dl_type(std::uint32_t dtype) {
  const auto bits = static_cast<std::uint8_t>(shm::dtype_bytes(dtype) * 8);
  std::uint8_t code = kDLInt;
  if (dtype == shm::kBfloat16) {
    code = kDLBfloat;
  } else if (dtype >= shm::kFloat16) {
    code = kDLFloat;
  } else if (dtype % 2 == 1) {  // uint8, uint16, uint32, uint64
    code = kDLUInt;
  }
  return {code, bits, 1};
}

std::vector<Field> fields_from(const json& list) {
  std::vector<Field> fields;
  for (const json& object : list) {
    const auto form = std::ranges::find(kFormNames, object.at("form").get<std::string>());
    fields.push_back({.name = object.at("name").get<std::string>(),
                      .dtype = object.at("dtype").get<std::uint32_t>(),
                      .form = static_cast<Form>(form - std::begin(kFormNames)),
                      .shape = object.at("shape").get<std::vector<std::int64_t>>()});
  }
  return fields;
}

json json_of(const std::vector<Field>& fields) {
  json list = json::array();
  for (const Field& field : fields) {
    json& object = list.emplace_back();
    object["name"] = field.name;
    object["dtype"] = field.dtype;
    object["form"] = kFormNames[static_cast<std::size_t>(field.form)];
    object["shape"] = field.shape;
  }
  return list;
}

Field output_from(const echoline_plugin_field& field) {
  // As for kPluginBytes in library.cc.
  constexpr std::size_t kBytes = offsetof(echoline_plugin_field, max_length) + sizeof(std::int64_t);
  if (field.size < kBytes)
    fail("describe: a field with the size {}; it has {}", field.size, kBytes);
  if (field.name == nullptr) fail("describe: a field without a name");
  const std::string_view name = field.name;
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!std::all_of(name.begin(), name.end(), fits))
    fail("describe: a field name has other characters than letters, digits and _");
  Field output{.name = field.name, .dtype = shm_dtype(field.dtype), .form = {}, .shape = {}};
  if (output.dtype == 0)
    fail(
        "describe: field {} has an element type that Echoline does not have: code {}, {} bits, {} "
        "lanes",
        output.name, field.dtype.code, field.dtype.bits, field.dtype.lanes);
  if (field.axis_count < 0 || field.axis_count > ECHOLINE_PLUGIN_AXES_MAX ||
      (field.axis_count > 0 && field.shape == nullptr))
    fail("describe: field {} has {} axes; allowed: 0 to {}, with a shape", output.name,
         field.axis_count, ECHOLINE_PLUGIN_AXES_MAX);
  output.shape.assign(field.shape, field.shape + field.axis_count);
  output.form = form_of(output, field.max_length);
  // As the daemon has them.
  if (output.form == Form::kRagged) output.shape[0] = field.max_length;
  if (output.form == Form::kPicture) output.shape[0] = output.shape[1] = 0;
  return output;
}

FieldViews::FieldViews(const std::vector<Field>& fields) {
  // Neither list moves while pointers to its elements are taken.
  shapes_.reserve(fields.size());
  views_.reserve(fields.size());
  for (const Field& field : fields) {
    std::vector<std::int64_t>& shape = shapes_.emplace_back(field.shape);
    if (field.form == Form::kRagged) shape[0] = 0;
    if (field.form == Form::kAxes) shape.assign(shape.size(), 0);
    if (field.form != Form::kFixed)
      std::ranges::replace(shape, 0, std::int64_t{ECHOLINE_PLUGIN_ANY_SIZE});
    views_.push_back({.size = sizeof(echoline_plugin_field),
                      .name = field.name.c_str(),
                      .dtype = dl_type(field.dtype),
                      .axis_count = static_cast<std::int32_t>(shape.size()),
                      .shape = shape.data(),
                      .max_length = field.form == Form::kRagged ? field.shape[0] : 0});
    pointers_.push_back(&views_.back());
  }
}

}  // namespace echoline::plugin_runner
