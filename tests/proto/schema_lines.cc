#include "proto/schema_lines.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <regex.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace echoline {
namespace {

// POSIX's regex: the standard library's gives false warnings under the sanitizers.
bool matches(const std::string& name, const std::string& pattern) {
  regex_t compiled;
  if (::regcomp(&compiled, ("^(" + pattern + ")$").c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    return false;
  }
  const bool found = ::regexec(&compiled, name.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&compiled);
  return found;
}

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::ServiceDescriptorProto;

constexpr int kReservedMax = 1000;  // the most numbers listed of one range

class Lines {
 public:
  explicit Lines(const FileDescriptorProto& file) : file_(file) {
    add("file {} package {} {}", file.name(), file.package(), file.syntax());
    for (const auto& one : file.message_type()) add_message(file.package(), one);
    for (const auto& one : file.enum_type()) add_enum(file.package(), one);
    for (const auto& one : file.service()) add_service(one);
    for (const auto& one : file.extension())
      add("extension {} {} {}", one.extendee(), one.number(), field_text(one, ""));
  }

  std::vector<std::string> take() && { return std::move(lines_); }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  static std::string field_text(const FieldDescriptorProto& field, const std::string& oneof) {
    std::string type = FieldDescriptorProto::Type_Name(field.type()).substr(5);
    std::string label = FieldDescriptorProto::Label_Name(field.label()).substr(6);
    if (label == "OPTIONAL" && !field.proto3_optional()) label = "SINGLE";
    return fmt::format("{} {} {}{}{}", field.name(), label,
                       field.type_name().empty() ? type : field.type_name(),
                       oneof.empty() ? "" : " in ", oneof);
  }

  void add_message(const std::string& scope, const DescriptorProto& message) {
    const std::string name = scope + "." + message.name();
    add("message {} in {}", name, file_.name());
    for (const auto& field : message.field()) {
      const bool real = field.has_oneof_index() && !field.proto3_optional();
      add("field {} {} {}", name, field.number(),
          field_text(field, real ? message.oneof_decl(field.oneof_index()).name() : ""));
    }
    for (const auto& range : message.reserved_range()) add_range(name, range.start(), range.end());
    for (const auto& one : message.reserved_name()) add("reserved {} {}", name, one);
    for (const auto& one : message.nested_type()) add_message(name, one);
    for (const auto& one : message.enum_type()) add_enum(name, one);
  }

  void add_enum(const std::string& scope, const EnumDescriptorProto& type) {
    const std::string name = scope + "." + type.name();
    add("enum {} in {}", name, file_.name());
    for (const auto& one : type.value()) add("value {} {} {}", name, one.number(), one.name());
    // The range of an enum includes its end.
    for (const auto& range : type.reserved_range()) add_range(name, range.start(), range.end() + 1);
    for (const auto& one : type.reserved_name()) add("reserved {} {}", name, one);
  }

  void add_range(const std::string& name, int begin, int end) {
    for (int i = begin; i < std::min(end, begin + kReservedMax); ++i)
      add("reserved {} {}", name, i);
  }

  void add_service(const ServiceDescriptorProto& service) {
    const std::string name = file_.package() + "." + service.name();
    add("service {} in {}", name, file_.name());
    for (const auto& one : service.method()) {
      add("rpc {} {} {}{} -> {}{}", name, one.name(), one.client_streaming() ? "stream " : "",
          one.input_type(), one.server_streaming() ? "stream " : "", one.output_type());
    }
  }

  const FileDescriptorProto& file_;
  std::vector<std::string> lines_;
};

// "field OWNER NUMBER NAME ..." or "value OWNER NUMBER NAME".
bool is_reserved(const std::string& line, const std::set<std::string>& now) {
  std::istringstream words(line);
  std::string kind;
  std::string owner;
  std::string number;
  std::string name;
  words >> kind >> owner >> number >> name;
  if (kind != "field" && kind != "value") return false;
  return now.contains(fmt::format("reserved {} {}", owner, number)) &&
         now.contains(fmt::format("reserved {} {}", owner, name));
}

class Style {
 public:
  explicit Style(const FileDescriptorProto& file) {
    std::string folder = file.package();
    std::replace(folder.begin(), folder.end(), '.', '/');
    if (file.name().substr(0, file.name().rfind('/')) != folder)
      errors_.push_back(
          fmt::format("{}: package {} belongs in {}/", file.name(), file.package(), folder));
    expect("[a-z]+(\\.[a-z]+)*\\.v[0-9]+", file.package(), "a package with a version");
    for (const auto& one : file.message_type()) check(one);
    for (const auto& one : file.enum_type()) check(one);
    for (const auto& service : file.service()) {
      for (const auto& call : service.method()) {
        expect(kPascal, call.name(), "PascalCase");
        expect(fmt::format("\\.{}\\.{}Request", file.package(), call.name()), call.input_type(),
               "its call's own request");
        expect(fmt::format("\\.{}\\.{}Response", file.package(), call.name()), call.output_type(),
               "its call's own response");
      }
    }
  }

  std::vector<std::string> take() && { return std::move(errors_); }

 private:
  static constexpr const char* kPascal = "([A-Z][a-z0-9]*)+";

  void expect(const std::string& pattern, const std::string& name, const std::string& what) {
    if (!matches(name, pattern)) errors_.push_back(fmt::format("'{}' is not {}", name, what));
  }

  void check(const DescriptorProto& message) {
    if (message.options().map_entry()) return;
    expect(kPascal, message.name(), "PascalCase");
    for (const auto& one : message.field())
      expect("[a-z]+[0-9]*(_[a-z0-9]+)*", one.name(), "snake_case");
    for (const auto& one : message.nested_type()) check(one);
    for (const auto& one : message.enum_type()) check(one);
  }

  void check(const EnumDescriptorProto& type) {
    expect(kPascal, type.name(), "PascalCase");
    for (const auto& one : type.value()) expect("[A-Z]+(_[A-Z0-9]+)*", one.name(), "UPPER_CASE");
    if (type.value_size() == 0 || type.value(0).number() != 0)
      errors_.push_back(fmt::format("'{}' does not begin with 0", type.name()));
  }

  std::vector<std::string> errors_;
};

template <typename Of>
std::vector<std::string> of_files(const FileDescriptorSet& schema) {
  std::vector<std::string> all;
  for (const FileDescriptorProto& file : schema.file()) {
    for (std::string& line : Of(file).take()) all.push_back(std::move(line));
  }
  return all;
}

}  // namespace

std::vector<std::string> schema_lines(const FileDescriptorSet& schema) {
  std::vector<std::string> lines = of_files<Lines>(schema);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> breakages(const std::vector<std::string>& released,
                                   const std::vector<std::string>& now) {
  const std::set<std::string> known(now.begin(), now.end());
  std::vector<std::string> broken;
  for (const std::string& line : released) {
    if (!known.contains(line) && !is_reserved(line, known)) broken.push_back(line);
  }
  return broken;
}

std::vector<std::string> style_errors(const FileDescriptorSet& schema) {
  return of_files<Style>(schema);
}

}  // namespace echoline
