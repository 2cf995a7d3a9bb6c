// The two map fields of the schema, by their typed interface: reflection sees a map as a list of
// copies, so values reached that way would not keep their place.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <string>

#include "base/status.h"

namespace echoline::config {

// The value under `key` of the message's map field, made if it is not there. The message must be a
// Config (streams) or a Decode (fields).
google::protobuf::Message& map_value(google::protobuf::Message& message, const std::string& key);

// Visits the values in the order of their keys, until one fails.
Status for_each_map_value(
    google::protobuf::Message& message,
    const std::function<Status(const std::string& key, google::protobuf::Message& value)>& visit);

}  // namespace echoline::config
