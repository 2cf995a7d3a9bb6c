// Generates the package echoline.steps from the schema: one function for each step of a pipeline.
#pragma once

#include <map>
#include <string>

namespace echoline::config {

// The content of each generated file by its name: __init__.py, and one file for each file of the
// schema with steps. `schema_file` is a serialized FileDescriptorSet with source info.
std::map<std::string, std::string> python_steps(const std::string& schema_file);

}  // namespace echoline::config
