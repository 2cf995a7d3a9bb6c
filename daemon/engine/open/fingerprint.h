// What two streams must share for a position in one to mean the same in the other (semantics.md,
// Fingerprint).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "echoline/shm/ring_layout.h"
#include "echoline/v1/config.pb.h"
#include "record/core/data_set.h"

namespace echoline::engine {

using Fingerprint = std::array<std::uint8_t, shm::kFingerprintBytes>;

// Three hashes side by side, so that a difference can be named: of the indexed objects (name, size,
// ETag, record count), of every step that changes order or values with the plan's version, and of
// the seed. Workers, slots, caches, throttles and endpoints are not in it; nor are folder and times
// of local files, so that a copy on another host has the same fingerprint.
Fingerprint fingerprint(const v1::Stream& stream, const record::DataSet& data_set);

// What differs, as "another data set and another seed"; empty if nothing does.
std::string difference(const Fingerprint& one, const Fingerprint& other);

std::string to_hex(const Fingerprint& fingerprint);

}  // namespace echoline::engine
