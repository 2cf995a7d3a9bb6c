#include "augment/row_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace echoline::augment {
namespace {

constexpr int kOddMax = 1;  // records of another shape that bad_records can handle

bool same(const decode::FieldType& a, const decode::FieldType& b) {
  // Of rows of different lengths, the other sizes are the same.
  if (a.ragged && b.ragged)
    return a.inner_bytes() == 0 || b.inner_bytes() == 0 || a.shape == b.shape;
  return a.ragged || !a.fixed || !b.fixed || a.shape == b.shape;
}

// The image that the field belongs to, as masks and their boxes do: only its size can be changed.
const std::string& image_of(const std::vector<decode::FieldType>& types,
                            const decode::FieldType& type) {
  const auto owner = std::ranges::find(types, type.of, &decode::FieldType::name);
  return owner == types.end() ? type.name : image_of(types, *owner);
}

Status different(const std::vector<decode::FieldType>& types, const decode::FieldType& first,
                 const decode::FieldType& other) {
  return {Code::kInvalidArgument,
          fmt::format(
              "field {} has rows of different shapes, [{}] and [{}], but all rows "
              "of a batch must have one shape: add a crop, or resize: {{field: {}, size: [height, "
              "width]}}; a single size keeps the ratio",
              first.name, fmt::join(first.shape.span(), ", "), fmt::join(other.shape.span(), ", "),
              image_of(types, first))};
}

}  // namespace

Status RowShapes::take(const std::vector<decode::FieldType>& found) {
  if (!types_) {
    types_ = found;
    return {};
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (same((*types_)[i], found[i])) continue;
    if (++odd_ > kOddMax) return different(*types_, (*types_)[i], found[i]);
    break;
  }
  return {};
}

bool RowShapes::settled() const {
  const auto& outputs = chain_.outputs();
  return types_ && std::all_of(outputs.begin(), outputs.end(), [](const decode::FieldType& type) {
           return type.fixed || (type.ragged && type.inner_bytes() > 0);
         });
}

}  // namespace echoline::augment
