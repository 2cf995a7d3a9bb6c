// Access to the three map fields of the schema through their typed interface. Reflection sees a map
// as a list of copies, so the addresses of its values are not stable (source_locations.h needs
// them).
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <string>

#include "base/status.h"

namespace echoline::config {

// The value with this key in the message's map field, created if missing. The message must be a
// Config (streams), a Decode (fields) or a Python (out).
google::protobuf::Message& map_value(google::protobuf::Message& message, const std::string& key);

// Visits the values in the order of their keys; stops at the first error.
Status for_each_map_value(
    google::protobuf::Message& message,
    const std::function<Status(const std::string& key, google::protobuf::Message& value)>& visit);

}  // namespace echoline::config
