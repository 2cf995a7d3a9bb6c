// The fingerprint of a stream's data, order and values: 16 bytes, 32 hexadecimal digits as text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "echoline/shm/ring_layout.h"

namespace echoline::client {

using Fingerprint = std::array<std::uint8_t, shm::kFingerprintBytes>;

Fingerprint fingerprint_of(const shm::RingHeader& header);

// Lower case.
std::string to_hex(const Fingerprint& fingerprint);
// Returns false unless `text` is 32 hexadecimal digits, of either case.
bool from_hex(std::string_view text, Fingerprint& fingerprint);

}  // namespace echoline::client
