// Percent-encoding of names and queries for requests to stores.
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

// Path and query for the request line: escaped, the query sorted as signatures require.
std::string escaped_target(std::string_view path, const NamedValues& query);

// Decodes "%20" to a space; a '%' without two hexadecimal digits stays as it is.
std::string percent_decoded(std::string_view text);

// Encodes the characters of an already encoded path that are not allowed in a request.
std::string wire_path(std::string_view path);

}  // namespace echoline::source
