// Converts a schema to lines, one for each part that others depend on, and checks changes of them
// by the rules of `buf breaking` with FILE and WIRE_JSON. Pure functions.
#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <vector>

namespace echoline {

// Files, messages, fields (number, name, type, label, presence, oneof), enums, values, services,
// calls, extensions and reserved ranges; sorted. Without comments and options.
std::vector<std::string> schema_lines(const google::protobuf::FileDescriptorSet& schema);

// The breaking changes since `released`: lines that are missing or different, except fields and
// values whose number and name are both reserved now. Additions do not break.
std::vector<std::string> breakages(const std::vector<std::string>& released,
                                   const std::vector<std::string>& now);

// Violations of the style guide: packages match folders, names are PascalCase, snake_case or
// UPPER_CASE, and each call has its own request and response.
std::vector<std::string> style_errors(const google::protobuf::FileDescriptorSet& schema);

}  // namespace echoline
