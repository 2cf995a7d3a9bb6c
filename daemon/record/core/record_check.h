// Checks the bytes of a record against the checksum in the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/core/index.h"

namespace echoline::record {

// How often a record is read in total while its bytes do not match its checksum.
inline constexpr std::uint32_t kAnswersMax = 4;

// Ok if the index has no checksum of the record. kDataLoss names object, offset, key and both
// checksums.
Status check_record(const Index& index, std::uint64_t record, std::span<const std::byte> bytes);

// Reads one record and checks it, with up to kAnswersMax attempts. Blocks.
Result<std::vector<std::byte>> read_record(const Index& index, std::uint64_t record,
                                           source::Source& source);

}  // namespace echoline::record
