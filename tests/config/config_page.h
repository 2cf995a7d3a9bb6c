// Generates docs/config.md from the schema: structure and rules from the compiled descriptors,
// texts from the comments, which protoc writes into a separate file.
#pragma once

#include <string>

namespace echoline::config {

// `schema_file` is a serialized FileDescriptorSet with source info.
std::string config_page(const std::string& schema_file);

}  // namespace echoline::config
