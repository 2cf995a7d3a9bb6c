// The fields of a sample, for steps that read some and pass the others on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/sample.h"

namespace echoline::augment {

// The number of the field `name`; kInvalidArgument names the fields that there are.
Result<std::size_t> find_field(const std::vector<decode::FieldType>& fields,
                               const std::string& name);
// Appends a field; kInvalidArgument if the name is no name or is taken.
Status add_field(std::vector<decode::FieldType>& fields, decode::FieldType field);

// Appends an int64 field for lengths; an empty name: none.
Status add_lengths(std::vector<decode::FieldType>& fields, const std::string& name);

// Gives `to` as many tensors as `fields`; the first ones borrow those of `from`.
void borrow_all(const decode::Sample& from, decode::Sample& to, std::size_t fields);
// Writes an element of a field of add_lengths.
void write_length(decode::Tensor& tensor, std::uint64_t length);
// Gives `tensor` room of its own for this shape. The bytes have any value.
std::byte* make_room(decode::Tensor& tensor, shm::DType dtype, const decode::Shape& shape);

}  // namespace echoline::augment
