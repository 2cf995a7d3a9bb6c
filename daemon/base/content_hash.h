// A hash of 128 bits of content that is read piece by piece: the same on every machine.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/hex.h"

namespace echoline {

// XXH3. One thread.
class ContentHash {
 public:
  ContentHash() : state_(XXH3_createState(), &XXH3_freeState) { XXH3_128bits_reset(state_.get()); }

  void add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }
  // Its 8 bytes, little-endian as this machine.
  void add_number(std::uint64_t number) { add(std::as_bytes(std::span(&number, 1))); }
  // 32 hexadecimal digits, of all bytes so far.
  std::string digits() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    return to_hex(std::as_bytes(std::span(canonical.digest)));
  }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

}  // namespace echoline
