#include "augment/sample_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/field_name.h"

namespace echoline::augment {

Result<std::size_t> find_field(const std::vector<decode::FieldType>& fields,
                               const std::string& name) {
  const auto found = std::ranges::find(fields, name, &decode::FieldType::name);
  if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
  std::string names;
  for (const decode::FieldType& field : fields) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("field \"{}\" does not exist here; the fields are: {}", name, names));
}

Status add_field(std::vector<decode::FieldType>& fields, decode::FieldType field) {
  if (!is_field_name(field.name)) {
    return {Code::kInvalidArgument,
            fmt::format("\"{}\" is no field name; allowed: letters, digits and '_', no digit "
                        "first, at most {}",
                        field.name, kFieldNameMax)};
  }
  if (find_field(fields, field.name).ok()) {
    return {Code::kInvalidArgument,
            fmt::format("field \"{}\" exists already; choose another name", field.name)};
  }
  // A step could not tell it from the crops of that name.
  if (std::ranges::find(fields, field.name, &decode::FieldType::crops) != fields.end()) {
    return {Code::kInvalidArgument,
            fmt::format("\"{}\" is the name of several crops; choose another name", field.name)};
  }
  fields.push_back(std::move(field));
  return {};
}

Status add_lengths(std::vector<decode::FieldType>& fields, const std::string& name) {
  if (name.empty()) return {};
  return add_field(fields, {.name = name, .dtype = shm::kInt64, .fixed = true, .shape = {}});
}

void borrow_all(const decode::Sample& from, decode::Sample& to, std::size_t fields) {
  to.tensors.resize(fields);
  for (std::size_t i = 0; i < from.tensors.size(); ++i) to.tensors[i].borrow(from.tensors[i]);
}

void write_length(decode::Tensor& tensor, std::uint64_t length) {
  const auto number = static_cast<std::int64_t>(length);
  std::memcpy(make_room(tensor, shm::kInt64, {}), &number, sizeof number);
}

std::byte* make_room(decode::Tensor& tensor, shm::DType dtype, const decode::Shape& shape) {
  tensor.dtype = dtype;
  tensor.shape = shape;
  // It may have been a decoded part of a picture (Chain::run_prepared swaps samples).
  tensor.part.reset();
  tensor.reduction = {};
  tensor.borrowed.reset();
  tensor.bytes.resize(shape.elements() * shm::dtype_bytes(dtype));
  return tensor.bytes.data();
}

}  // namespace echoline::augment
