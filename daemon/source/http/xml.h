// The little of XML that stores answer with: elements and text. Made for hostile bytes: no entities
// of its own, no document types, bounded depth.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

// Called as each element closes, with the names from the root down,
// "ListBucketResult/Contents/Key", and its own text, without that of elements within it. Name-space
// prefixes and attributes are left out.
using XmlElement = std::function<void(std::string_view path, std::string_view text)>;

// kDataLoss if the text isn't one whole, well-formed document.
Status read_xml(std::string_view xml, const XmlElement& element);

}  // namespace echoline::source
