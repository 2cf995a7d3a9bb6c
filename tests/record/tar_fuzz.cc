// Arbitrary bytes as a shard: the scan ends, its records are within the shard, their checksums
// match, and cutting them never reads outside.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/crc.h"
#include "record/index/checksum_scan.h"
#include "record/tar/tar_scan.h"
#include "record/tar/webdataset.h"

namespace {

// Recomputes checksums, so that the fuzzer gets past them.
void fix_checksums(std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at + 512 <= bytes.size(); at += 512) {
    if (bytes[at] == std::byte{0}) continue;
    unsigned sum = 8 * ' ';
    for (std::size_t i = 0; i < 512; ++i) {
      if (i < 148 || i >= 156) sum += std::to_integer<unsigned>(bytes[at + i]);
    }
    for (std::size_t i = 0; i < 6; ++i) {
      bytes[at + 153 - i] = static_cast<std::byte>('0' + (sum >> (3 * i)) % 8);
    }
    bytes[at + 154] = std::byte{0};
    bytes[at + 155] = std::byte{' '};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  if (size < 2) return 0;
  const std::size_t window = 512 + data[0] * std::size_t{64};
  const auto* start = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(start + 1, start + size);
  if (data[0] % 2 == 0) fix_checksums(bytes);
  const std::uint64_t skip_bytes = data[0] % 3 == 0 ? kSkipNothing : data[0] % 3 * 700 - 700;
  const auto scan = make_checksum_scan(std::make_unique<TarScan>(bytes.size()), skip_bytes);
  for (std::size_t steps = 0; !scan->done(); ++steps) {
    if (steps > bytes.size() + 2) std::abort();  // a scan without progress
    const std::size_t left = bytes.size() - scan->position();
    const std::size_t take =
        std::min<std::size_t>(left, std::max<std::size_t>(window, scan->needed()));
    if (!scan->take(std::span(bytes).subspan(scan->position(), take)).ok()) return 0;
  }
  const RecordTable table = scan->take_table();
  Fields fields;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::uint64_t offset = table.offset[i], count = table.bytes[i];
    if (offset > bytes.size() || count > bytes.size() - offset) std::abort();
    const auto record = std::span<const std::byte>(bytes).subspan(offset, count);
    const std::uint32_t checksum = table.checksum.empty() ? 0 : table.checksum[i];
    const bool may_miss =
        (skip_bytes != kSkipNothing || !table.parts_of(i).empty()) && checksum == 0;
    if (!may_miss && checksum != echoline::crc32c(0, record)) std::abort();
    std::vector<std::byte> linked;
    for (const RecordPart& part : table.parts_of(i)) {
      if (part.offset > bytes.size() || part.bytes > bytes.size() - part.offset) std::abort();
      const auto more = std::span<const std::byte>(bytes).subspan(part.offset, part.bytes);
      linked.insert(linked.end(), more.begin(), more.end());
    }
    if (!linked.empty() && checksum != 0) std::abort();  // it would cover only a part
    const TarRecordBytes all{table.key(i), offset, record, table.parts_of(i), linked};
    if (!cut_tar_record(all, fields).ok()) continue;
    std::size_t sum = 0;
    for (const FieldBytes& field : fields.fields) {
      for (const char c : field.name) sum += static_cast<unsigned char>(c);
      for (const std::byte b : field.bytes) sum += std::to_integer<std::size_t>(b);
    }
    if (sum == ~std::size_t{0}) std::abort();  // keeps the reads
  }
  return 0;
}
