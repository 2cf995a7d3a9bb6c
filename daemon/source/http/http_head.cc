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

std::uint64_t rate_limit_window_s(std::string_view header) {
  std::uint64_t seconds = 0;
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    const std::string_view part = trimmed(header.substr(0, end));
    // Nothing is left of text that is no number: 0.
    if (part.starts_with("t="))
      std::from_chars(part.data() + 2, part.data() + part.size(), seconds);
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return seconds;
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
