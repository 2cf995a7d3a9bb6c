// Arbitrary bytes as an index.json and as a sample: refused, or fields within the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "record/mds/mds_index.h"
#include "record/mds/mds_sample.h"

namespace {

using namespace echoline::record;

// Columns of each kind; the digits of the number choose how many.
MdsColumns columns_by(unsigned number) {
  MdsColumns columns;
  for (; number > 0; number /= 5) {
    MdsColumn column;
    column.name = "c";
    column.form = static_cast<MdsForm>(number % 4);
    column.type_inside = number % 5 == 4;
    column.shape_inside = number % 3 == 1;
    column.bytes = column.form == MdsForm::kNumber ? column.type.bytes : number % 2 * 3;
    columns.push_back(column);
  }
  return columns;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)is_mds_index(text);
  if (const auto shards = parse_mds_index(text); shards.ok()) {
    for (const MdsShard& shard : *shards) {
      if (shard.columns == nullptr || shard.columns->empty()) std::abort();
    }
  }
  if (size < 2) return 0;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data + 2), size - 2);
  Fields fields;
  const MdsColumns columns = columns_by(data[0] * 256U + data[1]);
  if (!cut_mds_sample(columns, bytes, fields).ok()) return 0;
  std::size_t sum = 0;
  for (const FieldBytes& field : fields.fields) {
    for (const std::byte b : field.bytes) sum += std::to_integer<std::size_t>(b);
  }
  if (sum == ~std::size_t{0}) std::abort();  // keeps the reads
  return 0;
}
