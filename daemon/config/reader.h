// Reads YAML into protobuf messages by reflection: the schema defines the keys, and its options the
// form of each value. Ranges, defaults and the order of steps are checked later (complete.h,
// structure.h).
#pragma once

#include <google/protobuf/message.h>
#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/source_locations.h"

namespace echoline::config {

// The limit of YAML nodes, which also bounds the expansion of aliases.
inline constexpr std::size_t kNodeCountMax = 200'000;

// One reader per text; not thread safe. It throws no exceptions of yaml-cpp.
class Reader {
 public:
  // Errors begin with `name`, and with line and column if `positions` is true.
  Reader(std::string name, bool positions, SourceLocations& locations)
      : name_(std::move(name)), positions_(positions), locations_(locations) {}

  Status read_message(const YAML::Node& node, google::protobuf::Message& message);
  // Replaces the field's value.
  Status read_field(const YAML::Node& node, google::protobuf::Message& message,
                    const google::protobuf::FieldDescriptor& field);

  // "NAME:LINE:COL".
  std::string where(const YAML::Node& node) const;

 private:
  friend class AnyKeysReader;
  struct Entry {
    YAML::Node key;
    YAML::Node value;
  };

  // The entries of a mapping, with "<<" merged in; a duplicate key is an error.
  Result<std::vector<Entry>> entries(const YAML::Node& node, int depth = 0);
  // Appends what a "<<" refers to.
  Status merge(const YAML::Node& node, int depth, std::vector<Entry>& into);
  // The error for a key that the message does not have.
  Status unknown_key(const Entry& entry, const google::protobuf::Descriptor& message) const;
  // Checks that a step has one key.
  Status read_choice(const YAML::Node& node, const std::vector<Entry>& entries,
                     const google::protobuf::Descriptor& message) const;
  // Reads the values of a map field by their keys.
  Status read_map(const YAML::Node& node, google::protobuf::Message& message);
  // Replaces a repeated field by the items of a list.
  Status read_list(const YAML::Node& node, google::protobuf::Message& message,
                   const google::protobuf::FieldDescriptor& field);
  // Sets a field, or appends to a repeated one.
  Status read_scalar(const YAML::Node& node, google::protobuf::Message& message,
                     const google::protobuf::FieldDescriptor& field);
  // Counts a node against kNodeCountMax.
  Status count_node(const YAML::Node& node);

  std::string name_;
  bool positions_;
  SourceLocations& locations_;
  std::size_t nodes_ = 0;
};

}  // namespace echoline::config
