#include "source/http/http_head.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/ascii.h"

namespace echoline::source {
namespace {

// A server that never ends its head must not fill the memory.
constexpr std::size_t kBytesMax = 64 << 10;

}  // namespace

std::string_view HttpResponse::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers)
    if (name == lower_case_name) return value;
  return {};
}

bool HttpHead::take(std::string_view line) {
  if ((bytes_ += line.size()) > kBytesMax) return false;
  if (line.starts_with("HTTP/")) {  // a proxy or 100-continue sends a head before the real one
    response_ = {};
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view code = trimmed(line.substr(space));
    std::from_chars(code.data(), code.data() + code.size(), response_.status);
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos)
    // Header names have no case.
    response_.headers.emplace_back(lower_ascii(line.substr(0, colon)),
                                   trimmed(line.substr(colon + 1)));
  return true;
}

}  // namespace echoline::source
