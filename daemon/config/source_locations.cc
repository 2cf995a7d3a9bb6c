// The key is the message's address: protobuf does not move a submessage while its parent lives.
#include "config/source_locations.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "base/check.h"

namespace echoline::config {

void SourceLocations::set(const google::protobuf::Message& message, int field_number,
                          SourceLocation location) {
  // A later location wins: an override replaces that of the file.
  locations_[{&message, field_number}] = std::move(location);
}

const SourceLocation* SourceLocations::find(const google::protobuf::Message& message,
                                            int field_number) const {
  const auto found = locations_.find({&message, field_number});
  return found == locations_.end() ? nullptr : &found->second;
}

std::string SourceLocations::where(const google::protobuf::Message& message,
                                   int field_number) const {
  // The key itself, else its message.
  for (const int number : {field_number, 0}) {
    if (const SourceLocation* location = find(message, number)) return location->where;
  }
  return origin_;
}

Status SourceLocations::error(const google::protobuf::Message& message,
                              const google::protobuf::FieldDescriptor& field,
                              std::string_view text) const {
  return key_error(where(message, field.number()), field.name(), text);
}

Status SourceLocations::error(const google::protobuf::Message& message, const std::string& field,
                              std::string_view text) const {
  const auto* descriptor = message.GetDescriptor()->FindFieldByName(field);
  // A name that the message lacks is a bug.
  ECHOLINE_CHECK(descriptor != nullptr);
  return error(message, *descriptor, text);
}

Status key_error(const std::string& where, std::string_view key, std::string_view text) {
  return Status(Code::kInvalidArgument, fmt::format("{}: key '{}': {}", where, key, text));
}

}  // namespace echoline::config
