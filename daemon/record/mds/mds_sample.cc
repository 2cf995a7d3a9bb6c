// Values follow each other in the order of the columns.
#include "record/mds/mds_sample.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "record/core/fields.h"

namespace echoline::record {
namespace {

Status short_sample() {
  return Status(Code::kDataLoss, "the sample's bytes do not fit its columns");
}

// The elements of an array. Before them, unless the column fixes these: one byte for the type, one
// byte for rank and integer width of the shape, and the shape.
Result<std::span<const std::byte>> elements_of(const MdsColumn& column,
                                               std::span<const std::byte> value) {
  std::size_t skip = column.type_inside ? 1 : 0;
  if (column.shape_inside) {
    if (value.size() <= skip) return short_sample();
    const auto packed = std::to_integer<std::size_t>(value[skip]);
    skip += 1 + ((packed >> 2) << (packed & 3));
  }
  if (value.size() < skip) return short_sample();
  return value.subspan(skip);
}

Status put_column(const MdsColumn& column, std::span<const std::byte> value, Fields& fields) {
  switch (column.form) {
    case MdsForm::kPlain:
      fields.fields.push_back({column.name, value});
      return {};
    case MdsForm::kNumber: {
      const std::string_view text =
          copy_to_scratch(fields, element_text(column.type, value.data()));
      fields.fields.push_back({column.name, as_bytes(text)});
      fields.fields.push_back({copy_to_scratch(fields, fmt::format("{}[]", column.name)), value});
      return {};
    }
    case MdsForm::kArray: {
      ECHOLINE_ASSIGN(const std::span<const std::byte> elements, elements_of(column, value));
      fields.fields.push_back({column.name, elements});
      return {};
    }
    case MdsForm::kUnread:
      return {};
  }
  return {};
}

}  // namespace

Status cut_mds_sample(const MdsColumns& columns, std::span<const std::byte> sample,
                      Fields& fields) {
  clear_fields(fields);
  std::size_t varying = 0;
  for (const MdsColumn& column : columns) varying += column.bytes == 0 ? 1 : 0;
  if (sample.size() < varying * sizeof(std::uint32_t)) return short_sample();
  std::span<const std::byte> sizes = sample.first(varying * sizeof(std::uint32_t));
  std::span<const std::byte> rest = sample.subspan(sizes.size());
  for (const MdsColumn& column : columns) {
    std::uint32_t bytes = column.bytes;
    if (bytes == 0) {
      std::memcpy(&bytes, sizes.data(), sizeof(bytes));
      sizes = sizes.subspan(sizeof(bytes));
    }
    if (bytes > rest.size()) return short_sample();
    ECHOLINE_TRY(put_column(column, rest.first(bytes), fields));
    rest = rest.subspan(bytes);
  }
  return rest.empty() ? Status() : short_sample();
}

}  // namespace echoline::record
