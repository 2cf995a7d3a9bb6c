// The subset of XML that stores answer with: elements and text. Safe for hostile input: only the
// predefined entities, no document types, bounded depth.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

// Called when an element closes, with the names from the root down,
// "ListBucketResult/Contents/Key", and its own text without that of nested elements. Name-space
// prefixes and attributes are dropped.
using XmlVisitor = std::function<void(std::string_view path, std::string_view text)>;

// kDataLoss if the text is not one complete, well-formed document with one root element. An
// attribute must not contain '>'.
Status read_xml(std::string_view xml, const XmlVisitor& on_close);

}  // namespace echoline::source
