// Messages are told apart by address: protobuf keeps a submessage where it is while its parent
// lives.
#include "config/places.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "base/check.h"

namespace echoline::config {

void Places::note(const google::protobuf::Message& message, int field_number, Place place) {
  places_[{&message, field_number}] = std::move(place);
}

const Place* Places::find(const google::protobuf::Message& message, int field_number) const {
  const auto found = places_.find({&message, field_number});
  return found == places_.end() ? nullptr : &found->second;
}

std::string Places::where(const google::protobuf::Message& message, int field_number) const {
  for (const int number : {field_number, 0}) {
    if (const Place* place = find(message, number)) return place->where;
  }
  return origin_;
}

Status Places::error(const google::protobuf::Message& message,
                     const google::protobuf::FieldDescriptor& field, std::string_view text) const {
  return key_error(where(message, field.number()), field.name(), text);
}

Status Places::error(const google::protobuf::Message& message, const std::string& field,
                     std::string_view text) const {
  const auto* descriptor = message.GetDescriptor()->FindFieldByName(field);
  ECHOLINE_CHECK(descriptor != nullptr);
  return error(message, *descriptor, text);
}

Status key_error(const std::string& where, std::string_view key, std::string_view text) {
  return Status(Code::kInvalidArgument, fmt::format("{}: key '{}': {}", where, key, text));
}

}  // namespace echoline::config
