// Percent-encoding as stores want it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace echoline::source {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

// RFC 3986: everything but letters, digits, '-', '.', '_', '~' (and '/' if kept) as %XX.
std::string uri_escape(std::string_view text, bool keep_slash);

// "a=1&b=2": escaped and sorted by name.
std::string escaped_query(const NamedValues& query);

// Path and query as they go over the wire: escaped, the query sorted as signatures want it.
std::string escaped_target(std::string_view path, const NamedValues& query);

// "%20" is a space again; a '%' without two digits stays.
std::string percent_decoded(std::string_view text);

// A path that is encoded already, with what can't go over the wire encoded too.
std::string wire_path(std::string_view path);

}  // namespace echoline::source
