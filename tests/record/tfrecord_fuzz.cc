// Arbitrary bytes as a TFRecord file and as a tf.train.Example: refused, or fields within the
// bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "record/tfrecord/tf_example.h"
#include "record/tfrecord/tfrecord.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto scan = tfrecord_scan_spec().make_scan({"fuzz", size, ""}, 0);
  for (std::size_t steps = 0; !scan->done(); ++steps) {
    if (steps > size + 2) std::abort();  // a scan without progress
    if (!scan->take(bytes.subspan(scan->position())).ok()) break;
  }
  // Offsets of a compressed shard refer to the unpacked bytes: compressed_scan_fuzz checks these.
  if (scan->done() && scan->unpacked_bytes() == 0) {
    const RecordTable table = scan->take_table();
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table.offset[i] > size || table.bytes[i] > size - table.offset[i]) std::abort();
      (void)tf_record_data(bytes.subspan(table.offset[i], table.bytes[i])).ok();
    }
  }
  Fields fields;
  if (!cut_tf_example(bytes, fields).ok()) return 0;
  std::size_t sum = 0;
  for (const FieldBytes& field : fields.fields) {
    for (const char c : field.name) sum += static_cast<unsigned char>(c);
    for (const std::byte b : field.bytes) sum += std::to_integer<std::size_t>(b);
  }
  if (sum == ~std::size_t{0}) std::abort();  // keeps the reads
  return 0;
}
