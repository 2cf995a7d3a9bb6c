#include "config/any_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace echoline::config {

Status check_any_keys(const std::string& text) {
  using nlohmann::json;
  int deepest = 0;
  const json value = json::parse(
      text,
      [&deepest](int depth, json::parse_event_t /*event*/, json& /*parsed*/) {
        deepest = std::max(deepest, depth);
        // What is too deep is not kept: the size of the tree is bounded with it.
        return depth < kAnyKeysDepthMax;
      },
      false);
  // The outermost object has depth 0.
  if (deepest >= kAnyKeysDepthMax)
    return Status(Code::kInvalidArgument, fmt::format("more than {} levels", kAnyKeysDepthMax));
  if (value.is_object()) return {};
  return Status(Code::kInvalidArgument, "is no mapping; write its keys and values");
}

}  // namespace echoline::config
