// Where each value of a configuration stood in its text, so that a check made later can point at
// it. Not thread safe; lives while one configuration is read and checked.
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

struct Place {
  std::string where;    // "train.yaml:7:12", or "--set daemon.workers=4"
  std::string written;  // the value as it was written, where it is a single one
};

class Places {
 public:
  // `origin` is named where nothing better is known: the file, or the stream of a message.
  explicit Places(std::string origin) : origin_(std::move(origin)) {}

  void note(const google::protobuf::Message& message, int field_number, Place place);
  // Of the key itself (field 0: the message as a whole); null if it was not in the text.
  const Place* find(const google::protobuf::Message& message, int field_number) const;
  // Of the key, else of its message, else the origin.
  std::string where(const google::protobuf::Message& message, int field_number) const;

  // "WHERE: key 'NAME': TEXT".
  Status error(const google::protobuf::Message& message,
               const google::protobuf::FieldDescriptor& field, std::string_view text) const;
  // The same for the field with this name, which the message must have.
  Status error(const google::protobuf::Message& message, const std::string& field,
               std::string_view text) const;

 private:
  std::string origin_;
  std::map<std::pair<const google::protobuf::Message*, int>, Place> places_;
};

Status key_error(const std::string& where, std::string_view key, std::string_view text);

}  // namespace echoline::config
