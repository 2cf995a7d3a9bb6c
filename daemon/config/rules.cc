// Looks the options up in the descriptor at each call; a configuration is read once, so a cache
// would not pay.
#include "config/rules.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include "config/names.h"
#include "config/values.h"

namespace echoline::config {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// As a user would write the limits.
std::string range_text(const FieldRules& rules) {
  if (!rules.min && !rules.max) return "";
  const std::string least = rules.min ? format_value(rules.unit, *rules.min) : "";
  const std::string most = rules.max ? format_value(rules.unit, *rules.max) : "";
  if (rules.min && rules.above_min) {
    return "above " + least + (rules.max ? ", at most " + most : "");
  }
  if (rules.min && rules.max) return least + " to " + most;
  return rules.min ? least + " or more" : "at most " + most;
}

}  // namespace

FieldRules rules_of(const FieldDescriptor& field) {
  const google::protobuf::FieldOptions& options = field.options();
  FieldRules rules;
  rules.unit = options.GetExtension(v1::unit);
  // HasExtension: a limit of 0 differs from no limit.
  if (options.HasExtension(v1::min)) rules.min = options.GetExtension(v1::min);
  if (options.HasExtension(v1::max)) rules.max = options.GetExtension(v1::max);
  rules.above_min = options.GetExtension(v1::above_min);
  rules.required = options.GetExtension(v1::required);
  rules.single = options.GetExtension(v1::single);
  rules.ascending = options.GetExtension(v1::ascending);
  rules.any_keys = options.GetExtension(v1::any_keys);
  rules.items_min = options.GetExtension(v1::items_min);
  rules.items_max = options.GetExtension(v1::items_max);
  rules.one_of = split_names(options.GetExtension(v1::one_of));
  rules.default_value = options.GetExtension(v1::default_value);
  return rules;
}

bool accepts_auto(v1::Unit unit) {
  return unit == v1::COUNT_OR_AUTO || unit == v1::THOUSANDTHS_OR_AUTO;
}

std::string format_value(v1::Unit unit, double value) {
  // Sizes, rates and times are never negative.
  const auto whole = static_cast<std::uint64_t>(value < 0 ? 0 : value);
  switch (unit) {
    case v1::BYTES:
      return format_bytes(whole);
    case v1::RATE:
      return format_bytes(whole) + "/s";
    case v1::DURATION:
      return format_duration(whole);
    default:
      return fmt::format("{}", value);
  }
}

std::string allowed_values(const FieldRules& rules) {
  // Words before ranges: a field has one of the two.
  if (!rules.one_of.empty()) return join_names(rules.one_of);
  std::string text = range_text(rules);
  const std::string_view word = rules.unit == v1::COUNT_OR_ALL ? "all"
                                : accepts_auto(rules.unit)     ? "auto"
                                                               : "";
  if (!word.empty())
    // The word that such a field accepts besides numbers.
    text += fmt::format("{}{}", text.empty() ? "a whole number or " : ", or ", word);
  return text;
}

std::vector<std::string> known_keys(const Descriptor& message) {
  std::vector<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) names.push_back(message.field(i)->name());
  return names;
}

const FieldDescriptor* inline_map(const Descriptor& message) {
  // By convention the map is the only field.
  return message.options().GetExtension(v1::inline_map) ? message.field(0) : nullptr;
}

// `optional` fields are no real oneofs.
bool is_choice(const Descriptor& message) { return message.real_oneof_decl_count() == 1; }

}  // namespace echoline::config
