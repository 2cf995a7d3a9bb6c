// Keys and values that only a user's code knows are kept as JSON, which is YAML, too: they can be
// written into a file again, and equal settings have equal texts.
#include "config/any_keys_reader.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf8.h"
#include "config/any_keys.h"

namespace echoline::config {
namespace {

using nlohmann::json;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

std::string_view take_digits(std::string_view& rest) {
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  rest.remove_prefix(digits.size());
  return digits;
}

std::string_view take_sign(std::string_view& rest) {
  const std::string_view sign = rest.substr(0, rest.starts_with('-') || rest.starts_with('+'));
  rest.remove_prefix(sign.size());
  return sign;
}

// A decimal number of YAML as JSON writes it, with a digit on both sides of the point, and without
// a plus or zeros in front. Empty: the text is no number.
std::string decimal(std::string_view rest) {
  const bool negative = take_sign(rest) == "-";
  std::string_view whole = take_digits(rest);
  const bool has_point = rest.starts_with('.');
  rest.remove_prefix(has_point ? 1 : 0);
  const std::string_view fraction = has_point ? take_digits(rest) : "";
  if (whole.empty() && fraction.empty()) return "";
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  std::string number = fmt::format("{}{}", negative ? "-" : "", whole.empty() ? "0" : whole);
  if (has_point) number += fmt::format(".{}", fraction.empty() ? "0" : fraction);
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    const std::string_view sign = take_sign(rest);
    const std::string_view exponent = take_digits(rest);
    if (exponent.empty()) return "";
    number += fmt::format("e{}{}", sign, exponent);
  }
  return rest.empty() ? number : "";
}

// The value of 0x1f and 0o17; none if the text is no such number. Discarded: more than 64 bits.
std::optional<json> of_base(std::string_view text, std::string_view prefix, int base) {
  std::uint64_t value = 0;
  if (!text.starts_with(prefix)) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, value, base);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc{} ? json(value) : json(json::value_t::discarded);
}

// As JSON reads it. Discarded: a whole number of more than 64 bits, which would be rounded.
json decimal_value(const std::string& number) {
  const json value = json::parse(number, nullptr, false);
  const bool is_whole = number.find_first_of(".eE") == std::string::npos;
  return is_whole && value.is_number_float() ? json(json::value_t::discarded) : value;
}

// A text without quotes, by the core schema of YAML 1.2; yaml-cpp has found its nulls before.
// Discarded: a number that JSON cannot hold.
json plain_value(const std::string& text) {
  if (is_one_of(text, {"true", "True", "TRUE"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE"})) return false;
  std::string_view unsigned_text = text;
  take_sign(unsigned_text);
  if (is_one_of(unsigned_text, {".inf", ".Inf", ".INF"}) ||
      is_one_of(text, {".nan", ".NaN", ".NAN"}))
    return json::value_t::discarded;
  if (const auto value = of_base(text, "0x", 16)) return *value;
  if (const auto value = of_base(text, "0o", 8)) return *value;
  const std::string number = decimal(text);
  return number.empty() ? json(text) : decimal_value(number);
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
    const std::string& text = node.Scalar();
    if (!is_utf8(text)) return error(node, "not UTF-8");
    // yaml-cpp's tag of a text in quotes is "!", and of one without a tag "?".
    const std::string& tag = node.Tag();
    value = tag == "!" || tag == "tag:yaml.org,2002:str" ? json(text) : plain_value(text);
    if (!value.is_discarded()) return {};
    return error(
        node,
        fmt::format("{} is no number that JSON can hold; for a text, write it in quotes", text));
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
