// Answers of Google Cloud Storage's JSON interface. Bytes from the network: nothing is trusted.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "source/store/object_store.h"

namespace echoline::source {

// A page of objects.list. kDataLoss if it isn't one.
Result<ListPage> parse_gcs_list(std::string_view body);

// An object's resource: size and generation. kDataLoss if it isn't one.
Result<ListEntry> parse_gcs_object(std::string_view body);

// What an error says; printable, empty if it has no words.
std::string gcs_error_text(std::string_view body);

}  // namespace echoline::source
