// Names that users of other loaders type: those of torchvision, DataLoader, WebDataset and tf.data.
// Pure functions.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

namespace echoline::config {

// What is wrong with an unknown key of this message: "unknown; allowed: size, last", and, if it can
// be guessed, the name that is meant.
std::string unknown_key_text(const std::string& key, const google::protobuf::Descriptor& message);

}  // namespace echoline::config
