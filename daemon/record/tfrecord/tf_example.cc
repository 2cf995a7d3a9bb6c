// Example { Features features = 1 }, Features { map<string, Feature> feature = 1 }, Feature is one
// of bytes_list = 1, float_list = 2, int64_list = 3, each { repeated value = 1 }.
#include "record/tfrecord/tf_example.h"

#include <fmt/core.h>

#include <cstring>
#include <string>
#include <string_view>

#include "record/arrays/array_header.h"
#include "record/core/fields.h"
#include "record/tfrecord/wire.h"

namespace echoline::record {
namespace {

constexpr ElementType kInt64{ElementKind::kSigned, 8, false};
constexpr ElementType kFloat32{ElementKind::kFloat, 4, false};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status put_bytes_list(std::string_view name, std::span<const std::byte> list, Fields& fields) {
  std::size_t count = 0;
  for (WireReader reader(list); !reader.done();) {
    ECHOLINE_ASSIGN(const WireField value, reader.next());
    if (value.number == 1 && value.type == WireType::kBytes) ++count;
  }
  if (count == 0) fields.fields.push_back({copy_to_scratch(fields, fmt::format("{}[]", name)), {}});
  std::size_t number = 0;
  for (WireReader reader(list); !reader.done();) {
    ECHOLINE_ASSIGN(const WireField value, reader.next());
    if (value.number != 1 || value.type != WireType::kBytes) continue;
    const std::string_view its_name =
        count == 1 ? name : copy_to_scratch(fields, fmt::format("{}[{}]", name, number));
    fields.fields.push_back({its_name, value.bytes});
    ++number;
  }
  return {};
}

// Appends the elements of one field of a list; packed and unpacked encodings can be mixed.
Status append_elements(const WireField& value, const ElementType& type, std::string& elements) {
  if (type.kind == ElementKind::kFloat) {
    if (value.type != WireType::kBytes && value.type != WireType::kFixed32) {
      return Status(Code::kDataLoss, "a float_list that holds no floats");
    }
    if (value.bytes.size() % 4 != 0) return Status(Code::kDataLoss, "a float_list of odd length");
    elements.append(text_of(value.bytes));
    return {};
  }
  const auto append = [&elements](std::uint64_t number) {
    elements.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  if (value.type == WireType::kVarint) {
    append(value.value);
    return {};
  }
  if (value.type != WireType::kBytes) {
    return Status(Code::kDataLoss, "an int64_list that holds no integers");
  }
  for (WireReader reader(value.bytes); !reader.done();) {
    ECHOLINE_ASSIGN(const std::uint64_t number, reader.varint());
    append(number);
  }
  return {};
}

Status put_numbers(std::string_view name, std::span<const std::byte> list, const ElementType& type,
                   Fields& fields) {
  thread_local std::string elements;  // static: keeps its capacity
  elements.clear();
  for (WireReader reader(list); !reader.done();) {
    ECHOLINE_ASSIGN(const WireField value, reader.next());
    if (value.number == 1) ECHOLINE_TRY(append_elements(value, type, elements));
  }
  // Adding to the scratch can move its earlier contents. Fields are adjusted, other views are not:
  // so the name goes into a field before the elements are added.
  fields.fields.push_back({copy_to_scratch(fields, fmt::format("{}[]", name)), {}});
  const std::size_t all = fields.fields.size() - 1;
  const std::string_view kept = copy_to_scratch(fields, elements);
  fields.fields[all].bytes = as_bytes(kept);
  if (elements.size() == type.bytes) {
    const std::string text = element_text(type, std::as_bytes(std::span(elements)).data());
    fields.fields.push_back({name, as_bytes(copy_to_scratch(fields, text))});
  } else if (!elements.empty()) {
    fields.fields.push_back({name, fields.fields[all].bytes});
  }
  return {};
}

Status put_feature(std::string_view name, std::span<const std::byte> feature, Fields& fields) {
  WireField last;
  for (WireReader reader(feature); !reader.done();) {
    ECHOLINE_ASSIGN(const WireField kind, reader.next());
    if (kind.number <= 3 && kind.type == WireType::kBytes) last = kind;
  }
  if (last.number == 1) return put_bytes_list(name, last.bytes, fields);
  if (last.number == 2) return put_numbers(name, last.bytes, kFloat32, fields);
  if (last.number == 3) return put_numbers(name, last.bytes, kInt64, fields);
  return {};
}

Status put_entry(std::span<const std::byte> entry, Fields& fields) {
  std::string_view name;
  std::span<const std::byte> feature;
  for (WireReader reader(entry); !reader.done();) {
    ECHOLINE_ASSIGN(const WireField part, reader.next());
    if (part.type != WireType::kBytes) continue;
    if (part.number == 1) name = text_of(part.bytes);
    if (part.number == 2) feature = part.bytes;
  }
  Status status = put_feature(name, feature, fields);
  if (!status.ok()) return std::move(status).with_context(fmt::format("feature '{}'", name));
  return {};
}

Status put_all(std::span<const std::byte> example, Fields& fields) {
  for (WireReader reader(example); !reader.done();) {
    ECHOLINE_ASSIGN(const WireField features, reader.next());
    if (features.number != 1 || features.type != WireType::kBytes) continue;
    for (WireReader entries(features.bytes); !entries.done();) {
      ECHOLINE_ASSIGN(const WireField entry, entries.next());
      if (entry.number != 1 || entry.type != WireType::kBytes) continue;
      ECHOLINE_TRY(put_entry(entry.bytes, fields));
    }
  }
  return {};
}

}  // namespace

Status cut_tf_example(std::span<const std::byte> example, Fields& fields) {
  clear_fields(fields);
  Status status = put_all(example, fields);
  if (!status.ok()) return std::move(status).with_context("no tf.train.Example");
  if (fields.fields.empty()) {
    return Status(Code::kDataLoss, "the record contains no tf.train.Example with features");
  }
  return {};
}

}  // namespace echoline::record
