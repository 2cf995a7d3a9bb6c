// Any bytes as a packed shard, and any bytes packed: the scan ends, and its records lie within what
// it unpacked.
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "record/tfrecord.h"
#include "record/webdataset.h"

namespace {

void scan_all(std::span<const std::byte> bytes, const echoline::record::ScannedFormat& format) {
  const auto scan = format.make_scan({"fuzz", bytes.size(), ""});
  for (std::size_t steps = 0; !scan->done(); ++steps) {
    if (steps > bytes.size() + 2) std::abort();  // a scan that does not move on
    if (!scan->take(bytes.subspan(scan->position())).ok()) return;
  }
  const std::uint64_t end = scan->unpacked_bytes() == 0 ? bytes.size() : scan->unpacked_bytes();
  const echoline::record::RecordTable table = scan->take_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.offset[i] > end || table.bytes[i] > end - table.offset[i]) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  std::string packed(ZSTD_compressBound(size), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), data, size, 1));
  for (const ScannedFormat& format : {tar_format(), tfrecord_format()}) {
    scan_all(bytes, format);
    scan_all(std::as_bytes(std::span(packed)), format);
  }
  return 0;
}
