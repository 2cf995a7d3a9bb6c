// The status page: one HTML document that loads nothing but /status.json.
#pragma once

#include <string>

namespace echoline::serve {

// What is between HTML's tags, so that it stays text.
std::string html_escaped(const std::string& text);

// `text` is what browsers without scripts show. Pure.
std::string status_page(const std::string& text);

// The Content-Security-Policy under which the page works: its own script and style by their hash,
// and answers of this server.
std::string status_page_policy();

}  // namespace echoline::serve
