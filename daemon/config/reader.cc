// The recursion follows the schema, which is not recursive, so its depth is bounded for any YAML.
#include "config/reader.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "config/any_keys_reader.h"
#include "config/document.h"
#include "config/maps.h"
#include "config/names.h"
#include "config/other_names.h"
#include "config/rules.h"
#include "config/scalar.h"

namespace echoline::config {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// An anchor can merge itself, so the depth of merges must be bounded too.
constexpr int kMergeDepthMax = 16;

std::string kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    // The text as it was written.
    case YAML::NodeType::Scalar:
      return fmt::format("'{}'", node.Scalar());
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "nothing";
  }
}

// The only required key of a mapping, if it accepts the word "auto": `echo: auto` is
// `echo: {factor: auto}`. Else null.
const FieldDescriptor* key_of_auto(const Descriptor& message) {
  const FieldDescriptor* required = nullptr;
  for (int i = 0; i < message.field_count(); ++i) {
    if (!rules_of(*message.field(i)).required) continue;
    if (required != nullptr) return nullptr;
    required = message.field(i);
  }
  const bool accepts = required != nullptr && accepts_auto(rules_of(*required).unit);
  return accepts ? required : nullptr;
}

std::string key_text(const YAML::Node& key) { return key.IsScalar() ? key.Scalar() : kind_of(key); }

}  // namespace

std::string Reader::where(const YAML::Node& node) const {
  return positions_ ? at_mark(name_, node.Mark()) : name_;
}

Status Reader::count_node(const YAML::Node& node) {
  // Aliases count each time they are used, so a small text cannot expand without end.
  if (++nodes_ <= kNodeCountMax) return Status();
  return Status(Code::kInvalidArgument, where(node) + ": too many values; aliases count each time");
}

// Appends the entries that "<<" merges: of a mapping, or of a list of mappings.
Status Reader::merge(const YAML::Node& node, int depth, std::vector<Entry>& into) {
  // The merged mapping may merge others.
  if (depth >= kMergeDepthMax) {
    return key_error(where(node), "<<", "merges too many levels deep");
  }
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) ECHOLINE_TRY(merge(item, depth + 1, into));
    return Status();
  }
  ECHOLINE_ASSIGN(std::vector<Entry> merged, entries(node, depth + 1));
  into.insert(into.end(), merged.begin(), merged.end());
  return Status();
}

Result<std::vector<Reader::Entry>> Reader::entries(const YAML::Node& node, int depth) {
  std::vector<Entry> own;
  std::vector<Entry> merged;
  // `key:` without a value is an empty mapping.
  if (node.IsNull()) return own;
  if (!node.IsMap()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: {} where 'key: value' is wanted", where(node), kind_of(node)));
  }
  // Keys of this mapping only; a merged key may be given again.
  const auto find = [&own](const YAML::Node& key) {
    return std::find_if(own.begin(), own.end(),
                        [&key](const Entry& entry) { return entry.key.Scalar() == key.Scalar(); });
  };
  for (const auto& pair : node) {
    const YAML::Node& key = pair.first;
    ECHOLINE_TRY(count_node(key));
    if (!key.IsScalar()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: {} where a key is wanted", where(key), kind_of(key)));
    }
    // YAML's merge key.
    if (key.Scalar() == "<<") {
      ECHOLINE_TRY(merge(pair.second, depth, merged));
      continue;
    }
    if (const auto first = find(key); first != own.end()) {
      return key_error(where(key), key.Scalar(),
                       "is given twice; first at " + where(first->key) + "; remove one");
    }
    own.push_back({key, pair.second});
  }
  // A key of the mapping itself has precedence over a merged one, and the first merge over later
  // ones.
  for (Entry& entry : merged) {
    if (find(entry.key) == own.end()) own.push_back(entry);
  }
  return own;
}

Status Reader::unknown_key(const Entry& entry, const Descriptor& message) const {
  const std::string key = key_text(entry.key);
  return key_error(where(entry.key), key, unknown_key_text(key, message));
}

// A choice has exactly one key. Whether that key exists is checked like any other.
Status Reader::read_choice(const YAML::Node& node, const std::vector<Entry>& list,
                           const Descriptor& message) const {
  // The common mistake: the '- ' of the next step is missing.
  if (list.size() == 1) return Status();
  if (list.empty()) {
    return Status(Code::kInvalidArgument, fmt::format("{}: an empty step; allowed: {}", where(node),
                                                      join_names(known_keys(message))));
  }
  return key_error(where(list[1].key), key_text(list[1].key),
                   fmt::format("a second key in one step, next to '{}'; begin each step with '- '",
                               key_text(list[0].key)));
}

// Sets the fields of the message from the mapping's entries, and records their locations.
Status Reader::read_message(const YAML::Node& node, Message& message) {
  ECHOLINE_TRY(count_node(node));
  const Descriptor& descriptor = *message.GetDescriptor();
  // The key of the mapping is the better location, if the caller has set it already.
  if (locations_.find(message, 0) == nullptr) locations_.set(message, 0, {where(node), ""});
  if (inline_map(descriptor) != nullptr) return read_map(node, message);
  if (is_choice(descriptor) && node.IsScalar()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: '{}' alone; a step is a key with its settings, as '- batch: "
                              "{{size: 256}}'",
                              where(node), node.Scalar()));
  }
  ECHOLINE_ASSIGN(const std::vector<Entry> list, entries(node));
  if (is_choice(descriptor)) ECHOLINE_TRY(read_choice(node, list, descriptor));
  for (const Entry& entry : list) {
    const FieldDescriptor* field = descriptor.FindFieldByName(entry.key.Scalar());
    if (field == nullptr) return unknown_key(entry, descriptor);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated()) {
      // Located by its key, which is the line that a user looks for.
      Message& child = *message.GetReflection()->MutableMessage(&message, field);
      locations_.set(child, 0, {where(entry.key), ""});
      locations_.set(message, field->number(), {where(entry.key), ""});
    }
    ECHOLINE_TRY(read_field(entry.value, message, *field));
  }
  return Status();
}

Status Reader::read_field(const YAML::Node& node, Message& message, const FieldDescriptor& field) {
  ECHOLINE_TRY(count_node(node));
  if (field.is_map()) return read_map(node, message);
  const bool mapping = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated();
  if (!mapping) {
    // A mapping keeps the location of its key.
    locations_.set(message, field.number(), {where(node), node.IsScalar() ? node.Scalar() : ""});
  }
  if (field.is_repeated()) return read_list(node, message, field);
  if (rules_of(field).any_keys) return AnyKeysReader(*this).read(node, message, field);
  if (mapping) {
    Message& child = *message.GetReflection()->MutableMessage(&message, &field);
    if (node.IsMap() || node.IsNull()) return read_message(node, child);
    const FieldDescriptor* of_auto = key_of_auto(*field.message_type());
    if (of_auto != nullptr && node.IsScalar() && node.Scalar() == "auto") {
      child.Clear();
      return read_field(node, child, *of_auto);
    }
    return key_error(where(node), field.name(),
                     fmt::format("{} where a mapping{} is wanted; its keys: {}", kind_of(node),
                                 of_auto == nullptr ? "" : ", or the word auto,",
                                 join_names(known_keys(*field.message_type()))));
  }
  return read_scalar(node, message, field);
}

Status Reader::read_map(const YAML::Node& node, Message& message) {
  ECHOLINE_ASSIGN(const std::vector<Entry> list, entries(node));
  for (const Entry& entry : list) {
    // Created here; a stream that is given twice was refused by entries().
    Message& value = map_value(message, entry.key.Scalar());
    locations_.set(value, 0, {where(entry.key), entry.key.Scalar()});
    if (!entry.value.IsMap()) {
      return key_error(
          where(entry.key), entry.key.Scalar(),
          fmt::format("{} where a mapping is wanted; its keys: {}", kind_of(entry.value),
                      join_names(known_keys(*value.GetDescriptor()))));
    }
    ECHOLINE_TRY(read_message(entry.value, value));
  }
  return Status();
}

Status Reader::read_list(const YAML::Node& node, Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  // An override replaces the list of the file.
  reflection.ClearField(&message, &field);
  if (!node.IsSequence()) {
    // `url: a.tar` is a list of one.
    if (rules_of(field).single && node.IsScalar()) return read_scalar(node, message, field);
    return key_error(where(node), field.name(),
                     fmt::format("{} where a list is wanted", kind_of(node)));
  }
  for (const YAML::Node& item : node) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      // Each item has its own location.
      ECHOLINE_TRY(read_message(item, *reflection.AddMessage(&message, &field)));
    } else {
      ECHOLINE_TRY(count_node(item));
      ECHOLINE_TRY(read_scalar(item, message, field));
    }
  }
  return Status();
}

Status Reader::read_scalar(const YAML::Node& node, Message& message, const FieldDescriptor& field) {
  if (!node.IsScalar()) {
    return key_error(where(node), field.name(),
                     fmt::format("{} where a single value is wanted", kind_of(node)));
  }
  // The message of the conversion, with the place and the key before it.
  const Status stored = store_scalar(node.Scalar(), message, field);
  if (stored.ok()) return stored;
  return Status(stored.code(), key_error(where(node), field.name(), stored.message()).message());
}

}  // namespace echoline::config
