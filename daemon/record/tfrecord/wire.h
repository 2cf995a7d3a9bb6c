// Reads Protobuf's wire format field by field, without a schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace echoline::record {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field: a number or bytes, depending on its type. Fixed-size numbers are returned as bytes.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;           // kVarint
  std::span<const std::byte> bytes;  // all others
};

// Iterates over a message. Single-threaded; never reads outside of it.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : rest_(message) {}
  bool done() const { return rest_.empty(); }
  // kDataLoss for anything that is not a field, and for groups, which are obsolete.
  Result<WireField> next();
  Result<std::uint64_t> varint();

 private:
  Result<std::span<const std::byte>> take(std::uint64_t count);

  std::span<const std::byte> rest_;
};

}  // namespace echoline::record
