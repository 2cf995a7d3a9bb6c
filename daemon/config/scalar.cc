// values.h converts numbers. Words are stored unchanged and checked against one_of later.
#include "config/scalar.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "config/names.h"
#include "config/values.h"

namespace echoline::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

Status invalid(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

Result<std::uint64_t> parse_integer(const std::string& text, const FieldRules& rules) {
  switch (rules.unit) {
    case v1::BYTES:
      return parse_bytes(text);
    case v1::DURATION:
      return parse_duration_ns(text);
    case v1::RATE:
      return parse_rate(text);
    // As 2500 for 2.5.
    case v1::THOUSANDTHS: {
      ECHOLINE_ASSIGN(const std::uint32_t value, parse_thousandths(text));
      return std::uint64_t{value};
    }
    case v1::THOUSANDTHS_OR_AUTO: {
      if (text == "auto") return std::uint64_t{0};
      ECHOLINE_ASSIGN(const std::uint32_t value, parse_thousandths(text));
      // 0 means auto in the field, so a written 0 must be an error.
      if (value == 0) return invalid(text + " is out of range; allowed: " + allowed_values(rules));
      return std::uint64_t{value};
    }
    case v1::COUNT_OR_ALL:
      // No number of records is as large, so it can mean all of them.
      if (text == "all") return std::numeric_limits<std::uint64_t>::max();
      break;
    case v1::COUNT_OR_AUTO:
      // 0 means auto in the field, so a written 0 must be an error.
      if (text == "auto") return std::uint64_t{0};
      if (text == "0") return invalid("0 is out of range; allowed: " + allowed_values(rules));
      break;
    default:
      break;
  }
  const Result<std::uint64_t> value = parse_count(text);
  // A range is checked later, by complete().
  if (value.ok()) return value;
  const std::string allowed = allowed_values(rules);
  return invalid(value.status().message() + (allowed.empty() ? "" : "; allowed: " + allowed));
}

// In both, a repeated field gets one more value.
void store_uint64(std::uint64_t value, Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
  if (field.is_repeated()) return reflection->AddUInt64(&message, &field, value);
  reflection->SetUInt64(&message, &field, value);
}

void store_uint32(std::uint32_t value, Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
  if (field.is_repeated()) return reflection->AddUInt32(&message, &field, value);
  reflection->SetUInt32(&message, &field, value);
}

Status store_integer(const std::string& text, const FieldRules& rules, Message& message,
                     const FieldDescriptor& field) {
  ECHOLINE_ASSIGN(const std::uint64_t value, parse_integer(text, rules));
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    store_uint64(value, message, field);
    return Status();
  }
  // Checked here, because the field could not hold the value.
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    const std::string allowed = allowed_values(rules);
    return invalid(text + " is out of range" + (allowed.empty() ? "" : "; allowed: " + allowed));
  }
  store_uint32(static_cast<std::uint32_t>(value), message, field);
  return Status();
}

Status store_double(const std::string& text, const FieldRules& rules, Message& message,
                    const FieldDescriptor& field) {
  ECHOLINE_ASSIGN(const double value,
                  rules.unit == v1::FRACTION ? parse_fraction(text) : parse_number(text));
  const auto* reflection = message.GetReflection();
  if (field.is_repeated()) {
    reflection->AddDouble(&message, &field, value);
  } else {
    reflection->SetDouble(&message, &field, value);
  }
  return Status();
}

Status store_bool(const std::string& text, Message& message, const FieldDescriptor& field) {
  // YAML's other words (yes, on) are refused: they are easily mistaken for texts.
  if (text != "true" && text != "false") {
    return invalid(fmt::format("'{}' is out of range; allowed: true, false", text));
  }
  message.GetReflection()->SetBool(&message, &field, text == "true");
  return Status();
}

void store_string(const std::string& text, Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
  if (field.is_repeated()) return reflection->AddString(&message, &field, text);
  reflection->SetString(&message, &field, text);
}

}  // namespace

Status store_scalar(const std::string& text, Message& message, const FieldDescriptor& field) {
  const FieldRules rules = rules_of(field);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      // protobuf text must be UTF-8.
      if (!is_utf8(text)) return invalid("not UTF-8");
      // Whose home folder it would be depends on who reads the value.
      if (text.starts_with("~/")) {
        return invalid(fmt::format("'{}': '~' is not expanded; write the path in full", text));
      }
      store_string(text, message, field);
      return Status();
    case FieldDescriptor::CPPTYPE_BOOL:
      return store_bool(text, message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return store_double(text, rules, message, field);
    default:
      return store_integer(text, rules, message, field);
  }
}

}  // namespace echoline::config
