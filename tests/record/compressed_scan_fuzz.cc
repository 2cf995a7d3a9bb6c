// Arbitrary bytes as a compressed shard, and arbitrary bytes compressed: the scan ends, its records
// are within the unpacked bytes, and their checksums match.
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/crc.h"
#include "record/index/checksum_scan.h"
#include "record/tar/webdataset.h"
#include "record/tfrecord/tfrecord.h"

namespace {

using echoline::record::kSkipNothing;

constexpr std::uint64_t kWindow = 600;

void scan_all(std::span<const std::byte> bytes, std::span<const std::byte> unpacked,
              const echoline::record::ScanSpec& format, std::uint64_t skip_bytes) {
  const auto scan = format.make_scan({"fuzz", bytes.size(), ""}, skip_bytes);
  for (std::size_t steps = 0; !scan->done(); ++steps) {
    if (steps > bytes.size() + 2) std::abort();  // a scan without progress
    const auto rest = bytes.subspan(scan->position());
    const std::uint64_t window = std::max(kWindow, scan->needed());
    if (!scan->take(rest.first(std::min<std::uint64_t>(rest.size(), window))).ok()) return;
  }
  // If the input happens to be compressed itself, its content is unknown here.
  const bool known = scan->unpacked_bytes() == 0 || bytes.data() != unpacked.data();
  const std::uint64_t end = scan->unpacked_bytes() == 0 ? bytes.size() : scan->unpacked_bytes();
  const echoline::record::RecordTable table = scan->take_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.offset[i] > end || table.bytes[i] > end - table.offset[i]) std::abort();
    if (!known || table.checksum.empty()) continue;
    const std::uint32_t sum =
        echoline::crc32c(0, unpacked.subspan(table.offset[i], table.bytes[i]));
    if (table.checksum[i] != sum && (table.checksum[i] != 0 || skip_bytes == kSkipNothing)) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  std::string packed(ZSTD_compressBound(size), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), data, size, 1));
  for (const ScanSpec& format : {tar_scan_spec(), tfrecord_scan_spec()}) {
    for (const std::uint64_t skip_bytes : {std::uint64_t{0}, std::uint64_t{700}, kSkipNothing}) {
      scan_all(bytes, bytes, format, skip_bytes);
    }
    scan_all(std::as_bytes(std::span(packed)), bytes, format, 0);
  }
  return 0;
}
