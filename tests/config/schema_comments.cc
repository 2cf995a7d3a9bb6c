#include "config/schema_comments.h"

#include <google/protobuf/descriptor.pb.h>

#include <fstream>
#include <stdexcept>

namespace echoline::config {
namespace {

template <typename Found>
std::string comment_of(const Found* found) {
  google::protobuf::SourceLocation location;
  if (found == nullptr || !found->GetSourceLocation(&location)) return "";
  std::string text;
  for (const char c : location.leading_comments) {
    if (c == '\n') {
      text += ' ';
    } else if (!(c == ' ' && (text.empty() || text.back() == ' '))) {
      text += c;
    }
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

SchemaComments::SchemaComments(const std::string& schema_file) {
  std::ifstream file(schema_file, std::ios::binary);
  google::protobuf::FileDescriptorSet files;
  if (!files.ParseFromIstream(&file)) throw std::runtime_error("cannot read " + schema_file);
  for (const auto& one : files.file()) pool_.BuildFile(one);
}

std::string SchemaComments::of(const google::protobuf::Descriptor& message) const {
  return comment_of(pool_.FindMessageTypeByName(message.full_name()));
}

std::string SchemaComments::of(const google::protobuf::FieldDescriptor& field) const {
  return comment_of(pool_.FindFieldByName(field.full_name()));
}

}  // namespace echoline::config
