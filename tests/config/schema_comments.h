// The comments of the schema, which compiled descriptors lack: protoc writes them into a separate
// file.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

namespace echoline::config {

class SchemaComments {
 public:
  // `schema_file` is a serialized FileDescriptorSet with source info. Throws std::runtime_error if
  // it cannot be read.
  explicit SchemaComments(const std::string& schema_file);

  // The comment in one line; "" if there is none.
  std::string of(const google::protobuf::Descriptor& message) const;
  std::string of(const google::protobuf::FieldDescriptor& field) const;

 private:
  google::protobuf::DescriptorPool pool_;
};

}  // namespace echoline::config
