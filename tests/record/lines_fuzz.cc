// Arbitrary bytes as a text file in windows of any size: the records are the lines, whatever the
// windows. Each line is cut as JSON, and its fields can be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "record/lines/json_record.h"
#include "record/lines/line_scan.h"

namespace {

using namespace echoline::record;

RecordTable scan(std::span<const std::byte> bytes, std::size_t window) {
  const auto scan = make_line_scan(bytes.size());
  while (!scan->done()) {
    const auto rest = bytes.subspan(scan->position());
    if (!scan->take(rest.first(std::min(window, rest.size()))).ok()) return {};
  }
  return scan->take_table();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data + 1), size - 1);
  const RecordTable whole = scan(bytes, bytes.size());
  // Compressed files are refused by their first bytes, of which a small window has too few.
  const RecordTable pieces = scan(bytes, std::size_t{16} + data[0]);
  if (whole.offset != pieces.offset || whole.bytes != pieces.bytes) std::abort();
  Fields fields;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (!cut_json_record(bytes.subspan(whole.offset[i], whole.bytes[i]), fields).ok()) continue;
    for (const FieldBytes& field : fields.fields) {
      for (const char c : field.name) sum += static_cast<unsigned char>(c);
      for (const std::byte b : field.bytes) sum += std::to_integer<std::size_t>(b);
    }
  }
  if (sum == ~std::size_t{0}) std::abort();  // keeps the reads
  return 0;
}
