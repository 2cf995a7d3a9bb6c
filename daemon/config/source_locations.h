// The location of each value of a configuration in its text, for the errors of later checks.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/status.h"

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace echoline::config {

// One location.
struct SourceLocation {
  std::string where;    // "train.yaml:7:12", or "--set daemon.workers=4"
  std::string written;  // a scalar's text; else empty
};

// Refers to messages by address, so they must not move. Not thread safe.

class SourceLocations {
 public:
  // `origin` is used where no location is known: the file, or the stream's name.
  explicit SourceLocations(std::string origin) : origin_(std::move(origin)) {}

  void set(const google::protobuf::Message& message, int field_number, SourceLocation location);
  // The location of a key; field 0: of the whole message. Null if the text does not have it.
  const SourceLocation* find(const google::protobuf::Message& message, int field_number) const;
  // The location of the key, else of its message, else the origin.
  std::string where(const google::protobuf::Message& message, int field_number) const;

  // "WHERE: key 'NAME': TEXT".
  Status error(const google::protobuf::Message& message,
               const google::protobuf::FieldDescriptor& field, std::string_view text) const;
  // The same for the field with this name, which the message must have.
  Status error(const google::protobuf::Message& message, const std::string& field,
               std::string_view text) const;

 private:
  std::string origin_;
  std::map<std::pair<const google::protobuf::Message*, int>, SourceLocation> locations_;
};

// kInvalidArgument with "WHERE: key 'KEY': TEXT".
Status key_error(const std::string& where, std::string_view key, std::string_view text);

}  // namespace echoline::config
