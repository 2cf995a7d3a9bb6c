// Parses answers of Google Cloud Storage's JSON API. They are untrusted bytes from the network.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "source/store/object_store.h"

namespace echoline::source {

// A page of objects.list; kDataLoss for anything else.
Result<ListPage> parse_gcs_list(std::string_view body);

// Size and generation of an object's resource; kDataLoss for anything else.
Result<ListEntry> parse_gcs_object(std::string_view body);

// The text of an error: printable; empty if it has none.
std::string gcs_error_text(std::string_view body);

}  // namespace echoline::source
