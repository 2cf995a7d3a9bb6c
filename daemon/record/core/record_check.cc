#include "record/core/record_check.h"

#include <fmt/core.h>

#include "base/crc.h"

namespace echoline::record {

Status check_record(const Index& index, std::uint64_t record, std::span<const std::byte> bytes) {
  const std::uint32_t expected = index.checksum(record);
  if (expected == 0) return {};
  const std::uint32_t found = crc32c(0, bytes);
  if (found == expected) return {};
  const Extent extent = index.extent(record);
  return Status(
      Code::kDataLoss,
      fmt::format(
          "{}: the {} bytes from {} on (record {}) have the CRC-32C {:08x} where the index "
          "has {:08x}, in {} answers: the transfer changes them, or the object or its index "
          "is damaged; compare the object with its origin, and if it is right, make the "
          "index again with `echoline index --checksums`, or set read.checksums: none",
          index.shard(extent.shard).object.url, extent.bytes, extent.offset, index.key(record),
          found, expected, kAnswersMax));
}

Result<std::vector<std::byte>> read_record(const Index& index, std::uint64_t record,
                                           source::Source& source) {
  const Extent extent = index.extent(record);
  const source::ObjectInfo object = index.shard(extent.shard).object;
  Status checked;
  for (std::uint32_t answer = 0; answer < kAnswersMax; ++answer) {
    ECHOLINE_ASSIGN(std::vector<std::byte> bytes,
                    source::read_range(source, object, extent.offset, extent.bytes));
    checked = check_record(index, record, bytes);
    if (checked.ok()) return bytes;
    source.forget(object);
  }
  return checked;
}

}  // namespace echoline::record
