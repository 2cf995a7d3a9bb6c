// Walks the message by reflection, one part of the path per step.
#include "config/override.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "config/document.h"
#include "config/maps.h"
#include "config/names.h"
#include "config/other_names.h"
#include "config/pipeline.h"
#include "config/reader.h"
#include "config/rules.h"
#include "config/values.h"

namespace echoline::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A name with a dot cannot be addressed; stream names may have dots, keys never do.
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    parts.emplace_back(path.substr(start, dot - start));
    start = dot + 1;
  }
  return parts;
}

// Follows the path of one override and sets the value at its end.
class OverridePath {
 public:
  OverridePath(std::string where, SourceLocations& locations)
      : where_(std::move(where)), locations_(locations) {}

  // `message` is the one that parts[at] names a key of.
  Status set(Message& message, const std::vector<std::string>& parts, std::size_t at,
             const YAML::Node& value) {
    const std::string& part = parts[at];
    const bool last = at + 1 == parts.size();
    // A message whose keys are the entries of its map, as `decode`.
    if (inline_map(*message.GetDescriptor()) != nullptr) {
      return last ? needs_more(part) : set(map_value(message, part), parts, at + 1, value);
    }
    const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(part);
    if (field == nullptr) return unknown(part, *message.GetDescriptor());
    // The reader checks the value like one of the file.
    if (last) return Reader(where_, false, locations_).read_field(value, message, *field);
    // `streams`: the next part is a name.
    if (field->is_map()) {
      ECHOLINE_TRY(check_stream_exists(message, parts[at + 1]));
      if (at + 2 == parts.size()) return needs_more(parts[at + 1]);
      return set(map_value(message, parts[at + 1]), parts, at + 2, value);
    }
    // The path goes on, and a single value has no keys.
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return key_error(where_, part, "has no keys of its own");
    }
    // `pipeline`: the next part is a step.
    if (field->is_repeated()) return set_in_step(message, *field, parts, at + 1, value);
    return set(*message.GetReflection()->MutableMessage(&message, field), parts, at + 1, value);
  }

 private:
  // A new name would create a stream without a pipeline, so it must be a misspelt one.
  Status check_stream_exists(Message& config, const std::string& name) const {
    std::vector<std::string> names;
    ECHOLINE_TRY(for_each_map_value(config, [&](const std::string& key, Message&) {
      names.push_back(key);
      return Status();
    }));
    if (std::find(names.begin(), names.end(), name) != names.end()) return {};
    return key_error(where_, name,
                     "no such stream; there are: " + join_names(names) + did_you_mean(name, names));
  }

  // The error for a path that ends at a mapping.
  Status needs_more(const std::string& part) const {
    return key_error(where_, part, "is a mapping; name one of its keys");
  }

  Status unknown(const std::string& part, const google::protobuf::Descriptor& message) const {
    return key_error(where_, part, unknown_key_text(part, message));
  }

  // The part names a step, or is its position.
  Status set_in_step(Message& message, const FieldDescriptor& field,
                     const std::vector<std::string>& parts, std::size_t at,
                     const YAML::Node& value) {
    const auto* reflection = message.GetReflection();
    // A number is a position; no step has such a name.
    const Result<std::uint64_t> position = parse_count(parts[at]);
    std::vector<std::string> names;
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      auto& step =
          dynamic_cast<v1::Step&>(*reflection->MutableRepeatedMessage(&message, &field, i));
      const std::string name(step_name(step.step_case()));
      names.push_back(name);
      // By name the first step of this kind is meant.
      const bool found =
          position.ok() ? *position == static_cast<std::uint64_t>(i) : name == parts[at];
      if (!found) continue;
      const auto* setting = v1::Step::descriptor()->FindFieldByName(name);
      // The whole step is given as a value.
      if (at + 1 == parts.size()) {
        return Reader(where_, false, locations_).read_field(value, step, *setting);
      }
      return set(*step.GetReflection()->MutableMessage(&step, setting), parts, at + 1, value);
    }
    return key_error(where_, parts[at],
                     "no such step in the pipeline; its steps: " + join_names(names) +
                         did_you_mean(parts[at], names));
  }

  std::string where_;
  SourceLocations& locations_;
};

}  // namespace

Status apply_override(const std::string& text, v1::Config& config, SourceLocations& locations) {
  const std::string where = "--set " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Status(Code::kInvalidArgument,
                  where + ": wanted: key.key=value, as in daemon.workers=4");
  }
  const std::string value = text.substr(equals + 1);
  // "key=" sets an empty text.
  YAML::Node node("");
  if (!value.empty()) {
    // `where` as name: errors then begin with the override.
    Result<YAML::Node> parsed = parse_yaml(value, where);
    if (!parsed.ok()) return parsed.status();
    node = *parsed;
  }
  return OverridePath(where, locations).set(config, parts_of(text.substr(0, equals)), 0, node);
}

}  // namespace echoline::config
