#include "augment/sample_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace echoline::augment {
namespace {

constexpr std::size_t kNameMax = 63;  // as in the decode step

// Also a name in Python and in C.
bool is_name(const std::string& name) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && name.size() <= kNameMax &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

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
  if (!is_name(field.name)) {
    return {Code::kInvalidArgument,
            fmt::format("\"{}\" is no field name; allowed: letters, digits and '_', no digit "
                        "first, at most {}",
                        field.name, kNameMax)};
  }
  if (find_field(fields, field.name).ok()) {
    return {Code::kInvalidArgument,
            fmt::format("field \"{}\" exists already; choose another name", field.name)};
  }
  fields.push_back(std::move(field));
  return {};
}

void borrow(const decode::Tensor& from, decode::Tensor& to) {
  to.dtype = from.dtype;
  to.shape = from.shape;
  to.borrowed = from.content();
}

std::byte* make_room(decode::Tensor& tensor, shm::DType dtype, const decode::Shape& shape) {
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.borrowed.reset();
  tensor.bytes.resize(shape.elements() * shm::dtype_bytes(dtype));
  return tensor.bytes.data();
}

}  // namespace echoline::augment
