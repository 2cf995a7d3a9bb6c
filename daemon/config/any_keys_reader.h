// Reads a mapping whose keys only a user's code knows.
#pragma once

#include <google/protobuf/message.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/status.h"
#include "config/reader.h"

namespace echoline::config {

// A part of a Reader, with its limits and places.
class AnyKeysReader {
 public:
  explicit AnyKeysReader(Reader& reader) : reader_(reader) {}

  // Sets a text field with the rule any_keys.
  Status read(const YAML::Node& node, google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field);

 private:
  Status read_value(const YAML::Node& node, int depth, nlohmann::json& value);
  Status read_mapping(const YAML::Node& node, int depth, nlohmann::json& value);
  Status error(const YAML::Node& node, std::string_view text) const;

  Reader& reader_;
};

}  // namespace echoline::config
