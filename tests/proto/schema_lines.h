// A schema as lines, one for each thing that others rely on, and the rules for changing them: those
// of `buf breaking` with FILE and WIRE_JSON. Pure functions.
#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <vector>

namespace echoline {

// Files, messages, fields (number, name, type, label, presence, oneof), enums, values, services,
// calls, extensions and what is reserved; sorted. Comments and options count for nothing.
std::vector<std::string> schema_lines(const google::protobuf::FileDescriptorSet& schema);

// What a user of `released` could no longer rely on: lines that are gone or differ, but for fields
// and values whose number and name are both reserved now. Additions are none.
std::vector<std::string> breakages(const std::vector<std::string>& released,
                                   const std::vector<std::string>& now);

// Departures from the names of the style guide: packages as folders, PascalCase, snake_case,
// UPPER_CASE, calls with a request and a response of their own.
std::vector<std::string> style_errors(const google::protobuf::FileDescriptorSet& schema);

}  // namespace echoline
