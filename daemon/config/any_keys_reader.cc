// Keys and values that only a user's code knows are kept as JSON, which is YAML, too: they can be
// written into a file again, and equal settings have equal texts.
#include "config/any_keys_reader.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "config/any_keys.h"

namespace echoline::config {
namespace {

using nlohmann::json;

// A text without quotes is what JSON would read in its place; what JSON does not know is a text.
json scalar_value(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  // yaml-cpp's tag of a text in quotes is "!", and of one without a tag "?".
  if (node.Tag() != "?" && !node.Tag().empty()) return text;
  if (text == "true" || text == "false") return text == "true";
  const json number = json::parse(text, nullptr, false);
  return number.is_number() ? number : json(text);
}

}  // namespace

Status AnyKeysReader::read_mapping(const YAML::Node& node, int depth, json& value) {
  ECHOLINE_ASSIGN(const std::vector<Reader::Entry> list, reader_.entries(node));
  value = json::object();
  for (const Reader::Entry& entry : list) {
    if (!is_utf8(entry.key.Scalar())) return error(entry.key, "not UTF-8");
    ECHOLINE_TRY(read_value(entry.value, depth + 1, value[entry.key.Scalar()]));
  }
  return {};
}

Status AnyKeysReader::read_value(const YAML::Node& node, int depth, json& value) {
  ECHOLINE_TRY(reader_.count_node(node));
  // An anchor can contain itself.
  if (depth > kAnyKeysDepthMax)
    return error(node, fmt::format("more than {} levels", kAnyKeysDepthMax));
  if (node.IsNull()) return {};
  if (node.IsMap()) return read_mapping(node, depth, value);
  if (node.IsScalar()) {
    if (!is_utf8(node.Scalar())) return error(node, "not UTF-8");
    value = scalar_value(node);
    return {};
  }
  value = json::array();
  for (const YAML::Node& item : node)
    ECHOLINE_TRY(read_value(item, depth + 1, value.emplace_back()));
  return {};
}

Status AnyKeysReader::error(const YAML::Node& node, std::string_view text) const {
  return Status(Code::kInvalidArgument, fmt::format("{}: {}", reader_.where(node), text));
}

Status AnyKeysReader::read(const YAML::Node& node, google::protobuf::Message& message,
                           const google::protobuf::FieldDescriptor& field) {
  if (!node.IsMap() && !node.IsNull())
    return key_error(reader_.where(node), field.name(), "is no mapping; write its keys and values");
  json value = json::object();
  if (node.IsMap()) ECHOLINE_TRY(read_value(node, 1, value));
  message.GetReflection()->SetString(&message, &field, value.dump());
  return {};
}

}  // namespace echoline::config
