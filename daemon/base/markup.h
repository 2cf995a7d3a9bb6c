// Text in HTML, XML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace echoline {

// Escapes `text` for content and for attributes in double quotes.
std::string escape_markup(std::string_view text);

}  // namespace echoline
