// The schema's rules for one key: the options of options.proto as a plain struct. Used by the YAML
// reader, the checks and the generator of docs/config.md. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "echoline/v1/options.pb.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace echoline::config {

struct FieldRules {
  v1::Unit unit = v1::PLAIN;
  std::optional<double> min;
  std::optional<double> max;
  bool above_min = false;
  bool required = false;
  bool single = false;
  bool ascending = false;
  bool any_keys = false;
  std::uint32_t items_min = 0;
  std::uint32_t items_max = 0;  // 0: no limit
  std::vector<std::string> one_of;
  std::string default_value;
};

FieldRules rules_of(const google::protobuf::FieldDescriptor& field);

// As "1 to 1024, or auto", "64KiB or more", "drop, partial, pad"; empty if everything is allowed.
std::string allowed_values(const FieldRules& rules);
// The word "auto" is allowed; 0 in the field means it.
bool accepts_auto(v1::Unit unit);
// The value as a user would write it in this unit.
std::string format_value(v1::Unit unit, double value);

std::vector<std::string> known_keys(const google::protobuf::Descriptor& message);
// The map field whose entries are written directly as the message's keys, or null.
const google::protobuf::FieldDescriptor* inline_map(const google::protobuf::Descriptor& message);
// Whether exactly one of the message's keys must be set, as in a step of a pipeline.
bool is_choice(const google::protobuf::Descriptor& message);

}  // namespace echoline::config
