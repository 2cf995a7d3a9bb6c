// The status page: one HTML document, which loads only /status.json.
#pragma once

#include <string>

namespace echoline::serve {

// `text` is shown by browsers without JavaScript. Pure function.
std::string status_page(const std::string& text);

// The page's Content-Security-Policy: it allows its own script and style, by hash, and requests to
// this server.
std::string status_page_policy();

}  // namespace echoline::serve
