// One written value into one field, by the field's type and unit. Pure functions.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "base/status.h"
#include "config/rules.h"

namespace echoline::config {

// Sets the field, or adds to it where it is repeated. The error says what is wrong with the value
// and what is allowed, without naming the key.
Status store_scalar(const std::string& text, google::protobuf::Message& message,
                    const google::protobuf::FieldDescriptor& field);

// Refuses a word that only a later version takes (kUnimplemented).
Status check_later(const std::string& text, const FieldRules& rules);

}  // namespace echoline::config
