// The fingerprint of a stream: a position means the same in all streams that have it (semantics.md,
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
// The first ones are those of the data set: its format, metadata, objects and their versions.
inline constexpr std::size_t kFingerprintDataBytes = 6;

// Three hashes in a row, so that a message can name what differs: of the indexed objects (name,
// size, ETag, record count), of every step that changes order or values together with the plan
// version, and of the seed. Workers, slots, caches, throttles and endpoints are not part of it, nor
// folder and times of local files: a copy on another host has the same fingerprint.
// `contents`: of the files that steps name, where what they contain counts and not where they are:
// the text of users' functions, and the hash of the lists of an order.
Fingerprint fingerprint(const v1::Stream& stream, const record::DataSet& data_set,
                        const std::string& contents);

// Names the difference, as "another data set and another seed"; empty if there is none.
std::string difference(const Fingerprint& one, const Fingerprint& other);

// Of what a preparation server makes: the data set, and the steps before `prepare`. 16 bytes. The
// seed is no part of it while these steps draw nothing.
std::string sample_fingerprint(const v1::Stream& stream, const record::DataSet& data_set);

std::string to_hex(const Fingerprint& fingerprint);

}  // namespace echoline::engine
