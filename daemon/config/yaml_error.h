// Says in plain words what is wrong with a text that yaml-cpp refuses. Pure functions.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace echoline::config {

// A mistake and its place, which is often before the one where the parser notices it.
struct YamlMistake {
  YAML::Mark mark;
  std::string what;  // one sentence, with the line of text
};

YamlMistake explain_yaml_error(std::string_view text, const YAML::Exception& error);

}  // namespace echoline::config
