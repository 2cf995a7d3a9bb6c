// Uses reflection and the units of the schema. Values are in YAML's flow form.
#include "config/write.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "config/pipeline.h"
#include "config/rules.h"
#include "config/values.h"

namespace echoline::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Simple words are written unchanged, other texts as JSON strings, which are valid YAML.
std::string word(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  // A text that begins with a digit could be read back as a number.
  constexpr std::string_view kDigits = "-0123456789";
  const bool plain = !text.empty() && kDigits.find(text.front()) == std::string_view::npos &&
                     std::all_of(text.begin(), text.end(), [&](char c) {
                       return kLetters.find(c) != std::string_view::npos ||
                              kDigits.find(c) != std::string_view::npos;
                     });
  if (plain) return text;
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string integer(v1::Unit unit, std::uint64_t value) {
  if (unit == v1::COUNT_OR_ALL && value == std::numeric_limits<std::uint64_t>::max()) return "all";
  if (accepts_auto(unit) && value == 0) return "auto";
  if (unit == v1::THOUSANDTHS || unit == v1::THOUSANDTHS_OR_AUTO) return format_thousandths(value);
  // Numbers without a unit are exact.
  const bool plain = unit == v1::PLAIN || unit == v1::COUNT_OR_ALL || unit == v1::COUNT_OR_AUTO;
  return plain ? std::to_string(value) : format_value(unit, static_cast<double>(value));
}

// Declared here, because messages contain messages.
std::string flow(const Message& message);

// The value of the field; of a list, the item at `index`.
std::string value_text(const Message& message, const FieldDescriptor& field, int index) {
  const auto& reflection = *message.GetReflection();
  const FieldRules rules = rules_of(field);
  const v1::Unit unit = rules.unit;
  // `index` is only used for lists.
  const bool list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return integer(unit, list ? reflection.GetRepeatedUInt32(message, &field, index)
                                : reflection.GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return integer(unit, list ? reflection.GetRepeatedUInt64(message, &field, index)
                                : reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", list ? reflection.GetRepeatedDouble(message, &field, index)
                                    : reflection.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return flow(reflection.GetMessage(message, &field));
    default:
      // JSON is YAML.
      if (rules.any_keys) return reflection.GetString(message, &field);
      return word(list ? reflection.GetRepeatedString(message, &field, index)
                       : reflection.GetString(message, &field));
  }
}

std::string field_text(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) return value_text(message, field, 0);
  const int size = message.GetReflection()->FieldSize(message, &field);
  std::string text;
  for (int index = 0; index < size; ++index) {
    text += (index == 0 ? "" : ", ") + value_text(message, field, index);
  }
  return "[" + text + "]";
}

std::string flow(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  // Only fields that are set, in the order of the schema.
  message.GetReflection()->ListFields(message, &fields);
  std::string text;
  for (const FieldDescriptor* field : fields) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field->name(),
                        field_text(message, *field));
  }
  return "{" + text + "}";
}

std::string decode_text(const v1::Decode& decode) {
  std::string text;
  // Sorted by name; protobuf's maps have no order. Copies, because a field is changed below.
  for (auto [name, field] : std::map(decode.fields().begin(), decode.fields().end())) {
    // complete() fills it in for all fields, but the file may not have it for a fixed size.
    if (field.as() != "text" && field.as() != "bytes") field.clear_max_bytes();
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, flow(field));
  }
  return "{" + text + "}";
}

std::string step_text(const v1::Step& step) {
  if (step.has_decode()) return decode_text(step.decode());
  std::vector<const FieldDescriptor*> fields;
  step.GetReflection()->ListFields(step, &fields);
  // A step has one field: its kind.
  return fields.empty() ? "{}" : field_text(step, *fields.front());
}

}  // namespace

std::string stream_yaml(const v1::Stream& stream) {
  std::string text;
  std::vector<const FieldDescriptor*> fields;
  stream.GetReflection()->ListFields(stream, &fields);
  for (const FieldDescriptor* field : fields) {
    // The steps come last, each on a line of its own.
    if (field->name() == "pipeline") continue;
    text += fmt::format("{}: {}\n", field->name(), field_text(stream, *field));
  }
  text += "pipeline:\n";
  for (const v1::Step& step : stream.pipeline()) {
    text += fmt::format("  - {}: {}\n", step_name(step.step_case()), step_text(step));
  }
  return text;
}

}  // namespace echoline::config
