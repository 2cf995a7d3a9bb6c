// Whether bytes that came are the record's, by the checksum that its index has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/core/index.h"

namespace echoline::record {

// How often a record is asked for in all while what comes does not agree with its checksum.
inline constexpr std::uint32_t kAnswersMax = 4;

// ok where the index has no checksum of the record. kDataLoss names object, place, key and both
// checksums.
Status check_record(const Index& index, std::uint64_t record, std::span<const std::byte> bytes);

// Reads one record and checks it, several times if need be. Blocks.
Result<std::vector<std::byte>> read_record(const Index& index, std::uint64_t record,
                                           source::Source& source);

}  // namespace echoline::record
