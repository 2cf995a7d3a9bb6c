// The columns of a file as fields of a record (parquet-format, "Nested encoding" and "Logical
// types").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/arrays/array_header.h"
#include "record/parquet/footer.h"

namespace echoline::record {

// What a row has of a column.
enum class ColumnForm : std::uint8_t {
  kBytes,     // text or binary
  kNumber,    // one element
  kTexts,     // any number of texts
  kElements,  // any number of elements, of lists of any depth
};

struct Column {
  // The names of the path with dots between them, without the groups that lists and maps add. The
  // `bytes` of a struct{bytes, path}, as Hugging Face stores images and sounds, have the name of
  // the struct.
  std::string key;
  ColumnForm form = ColumnForm::kBytes;
  ElementType element;     // of numbers
  std::size_t number = 0;  // of the column chunk in its row group
  PhysicalType type = PhysicalType::kByteArray;
  std::uint32_t type_bytes = 0;  // of a value of fixed length
  std::uint32_t definition_max = 0;
  std::uint32_t repetition_max = 0;
  // Definition levels from which on the outermost and the innermost list have an element.
  std::uint32_t outer_list = 0;
  std::uint32_t inner_list = 0;

  bool is_list() const { return repetition_max > 0; }
  bool is_number() const { return form == ColumnForm::kNumber || form == ColumnForm::kElements; }
};

struct Columns {
  std::vector<Column> columns;
  std::vector<std::string> unread;  // keys of columns whose types are not supported
};

// The columns below the `wanted` top-level names; all if that is empty. kDataLoss for a schema that
// is no tree, kInvalidArgument for a wanted name that the file has not.
Result<Columns> read_schema(std::span<const SchemaNode> schema,
                            std::span<const std::string> wanted);

// Whether records of both have the same fields.
bool same_fields(const Columns& a, const Columns& b);

}  // namespace echoline::record
