// Converts one written value into a field, by the field's type and unit. Pure functions.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "base/status.h"
#include "config/rules.h"

namespace echoline::config {

// Sets the field, or appends to a repeated one. The error names the value and what is allowed, but
// not the key.
Status store_scalar(const std::string& text, google::protobuf::Message& message,
                    const google::protobuf::FieldDescriptor& field);

}  // namespace echoline::config
