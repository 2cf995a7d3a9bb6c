// One walk over the message by reflection; defaults are read by the same reader as the file.
#include "config/complete.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "config/any_keys.h"
#include "config/maps.h"
#include "config/names.h"
#include "config/reader.h"
#include "config/rules.h"
#include "config/scalar.h"
#include "config/values.h"

namespace echoline::config {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A field, its rules and its location, during one check.
struct Checked {
  Message& message;
  const FieldDescriptor& field;
  FieldRules rules;
  const SourceLocations& locations;

  Status error(std::string_view text) const { return locations.error(message, field, text); }
};

bool is_message(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

// Whether a mapping that was left out is filled in: no key is required and one has a default.
// A mapping with a required key cannot be made up; one without defaults would stay empty.
bool has_only_defaults(const Descriptor& message) {
  bool any = false;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldRules rules = rules_of(*message.field(i));
    if (rules.required) return false;
    any = any || !rules.default_value.empty();
  }
  return any;
}

// Defaults go through the same reader as the file, so they have the same form.
// A default that the reader refuses is a bug of the schema, which any test finds.
void set_default(Checked& checked) {
  SourceLocations nowhere("default");
  Reader reader("default", false, nowhere);
  const YAML::Node node = YAML::Load(checked.rules.default_value);
  ECHOLINE_CHECK(reader.read_field(node, checked.message, checked.field).ok());
}

// The value as the user wrote it, if it comes from a text.
std::string shown(const Checked& checked, double value) {
  // Messages over the control socket have no text.
  const SourceLocation* location = checked.locations.find(checked.message, checked.field.number());
  if (location != nullptr && !location->written.empty()) return location->written;
  return format_value(checked.rules.unit, value);
}

Status check_range(const Checked& checked, double value) {
  const FieldRules& rules = checked.rules;
  // 0 means "auto", which is always allowed.
  if (accepts_auto(rules.unit) && value == 0) return Status();
  // The schema has limits in whole units, the field thousandths.
  const bool thousandths = rules.unit == v1::THOUSANDTHS || rules.unit == v1::THOUSANDTHS_OR_AUTO;
  const double scaled = thousandths ? value / 1000 : value;
  const bool below =
      // `above_min`: the limit itself is not allowed.
      rules.min && (scaled < *rules.min || (rules.above_min && scaled <= *rules.min));
  const bool above = rules.max && scaled > *rules.max;
  if (!below && !above) return Status();
  return checked.error(shown(checked, scaled) +
                       " is out of range; allowed: " + allowed_values(rules));
}

Status check_word(const Checked& checked, const std::string& word) {
  const FieldRules& rules = checked.rules;
  if (rules.required && word.empty()) return checked.error("empty; it is required");
  if (rules.any_keys) {
    const Status keys = check_any_keys(word);
    return keys.ok() ? keys : checked.error(keys.message());
  }
  // No list of words: any text is allowed.
  const auto& words = rules.one_of;
  if (words.empty() || std::find(words.begin(), words.end(), word) != words.end()) return Status();
  return checked.error(fmt::format("'{}' is unknown; allowed: {}{}", word, join_names(words),
                                   did_you_mean(word, words)));
}

// The numbers of a field: one, or those of a list.
std::vector<double> numbers(const Checked& checked) {
  // Reflection has one function for each type, single and repeated.
  const auto* reflection = checked.message.GetReflection();
  const FieldDescriptor* field = &checked.field;
  // -1: a single value.
  const int count = field->is_repeated() ? reflection->FieldSize(checked.message, field) : -1;
  std::vector<double> values;
  const auto add = [&](auto single, auto item) {
    if (count < 0)
      values.push_back(static_cast<double>((reflection->*single)(checked.message, field)));
    for (int i = 0; i < count; ++i) {
      values.push_back(static_cast<double>((reflection->*item)(checked.message, field, i)));
    }
  };
  using google::protobuf::Reflection;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      add(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      add(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64);
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      add(&Reflection::GetDouble, &Reflection::GetRepeatedDouble);
      break;
    // Not a number: nothing to compare.
    default:
      break;
  }
  return values;
}

Status check_words(const Checked& checked) {
  // Only texts are words.
  if (checked.field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) return Status();
  const auto* reflection = checked.message.GetReflection();
  if (!checked.field.is_repeated()) {
    return check_word(checked, reflection->GetString(checked.message, &checked.field));
  }
  for (int i = 0; i < reflection->FieldSize(checked.message, &checked.field); ++i) {
    ECHOLINE_TRY(
        check_word(checked, reflection->GetRepeatedString(checked.message, &checked.field, i)));
  }
  return Status();
}

Status check_list(const Checked& checked, const std::vector<double>& values) {
  const FieldRules& rules = checked.rules;
  const auto count = static_cast<std::uint32_t>(
      checked.message.GetReflection()->FieldSize(checked.message, &checked.field));
  // An empty list counts as not given.
  const bool few = count > 0 && count < rules.items_min;
  if (few || (rules.items_max > 0 && count > rules.items_max)) {
    const std::uint32_t least = std::max(rules.items_min, 1U);
    // Without a lower limit of its own, a list has at least one value.
    return checked.error(fmt::format("a list of {}; allowed: {}", count,
                                     least == rules.items_max
                                         ? fmt::format("{} values", least)
                                         : fmt::format("{} to {} values", least, rules.items_max)));
  }
  if (rules.ascending && !std::is_sorted(values.begin(), values.end())) {
    return checked.error(count == 2 ? "the first value is larger than the second; swap them"
                                    : "each value must be larger than the one before");
  }
  return Status();
}

Status complete_value(Checked& checked) {
  const auto* reflection = checked.message.GetReflection();
  const bool list = checked.field.is_repeated();
  // "There" is not "not default": a value that equals the default was given.
  const bool there = list ? reflection->FieldSize(checked.message, &checked.field) > 0
                          : reflection->HasField(checked.message, &checked.field);
  // Not given: required, or with a default, or left out.
  if (!there) {
    if (checked.rules.required) {
      return checked.error("missing; it is required");
    }
    if (!checked.rules.default_value.empty()) set_default(checked);
    return Status();
  }
  const std::vector<double> values = numbers(checked);
  for (const double value : values) ECHOLINE_TRY(check_range(checked, value));
  ECHOLINE_TRY(check_words(checked));
  return list ? check_list(checked, values) : Status();
}

Status complete_messages(Message& message, const FieldDescriptor& field,
                         const SourceLocations& locations) {
  const auto* reflection = message.GetReflection();
  // The order of the keys is fixed, so the first error is always the same one.
  if (field.is_map()) {
    return for_each_map_value(message, [&locations](const std::string&, Message& value) {
      return complete(value, locations);
    });
  }
  if (field.is_repeated()) {
    if (rules_of(field).required && reflection->FieldSize(message, &field) == 0) {
      return locations.error(message, field, "missing; it is required");
    }
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      ECHOLINE_TRY(complete(*reflection->MutableRepeatedMessage(&message, &field, i), locations));
    }
    return Status();
  }
  // A member of a oneof is never filled in: that would choose it.
  // Only members of a oneof are choices; `optional` has a oneof that does not count.
  const bool wanted =
      field.real_containing_oneof() == nullptr && has_only_defaults(*field.message_type());
  if (!reflection->HasField(message, &field) && !wanted) return Status();
  return complete(*reflection->MutableMessage(&message, &field), locations);
}

}  // namespace

Status complete(Message& message, const SourceLocations& locations) {
  const Descriptor& descriptor = *message.GetDescriptor();
  // In the order of the schema, so that the first error is always the same one.
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    if (is_message(field)) {
      ECHOLINE_TRY(complete_messages(message, field, locations));
      continue;
    }
    Checked checked{message, field, rules_of(field), locations};
    ECHOLINE_TRY(complete_value(checked));
  }
  return Status();
}

}  // namespace echoline::config
