// JSON of credential services and files, where any member may be missing or of another type.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace echoline::source {

// A text member of a JSON object; empty if there is none.
inline std::string text_member(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// As text; replaces invalid UTF-8 instead of throwing.
inline std::string json_bytes(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace echoline::source
