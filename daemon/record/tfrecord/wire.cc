// Every step checks its bounds first, so that arbitrary bytes are safe.
#include "record/tfrecord/wire.h"

namespace echoline::record {

Result<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return Status(Code::kDataLoss, "a number that does not end");
}

Result<std::span<const std::byte>> WireReader::take(std::uint64_t count) {
  if (count > rest_.size()) return Status(Code::kDataLoss, "a field longer than the message");
  const auto bytes = rest_.first(count);
  rest_ = rest_.subspan(count);
  return bytes;
}

Result<WireField> WireReader::next() {
  ECHOLINE_ASSIGN(const std::uint64_t tag, varint());
  WireField field;
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return Status(Code::kDataLoss, "no field number");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  switch (field.type) {
    case WireType::kVarint: {
      ECHOLINE_ASSIGN(field.value, varint());
      return field;
    }
    case WireType::kBytes: {
      ECHOLINE_ASSIGN(const std::uint64_t count, varint());
      ECHOLINE_ASSIGN(field.bytes, take(count));
      return field;
    }
    case WireType::kFixed64: {
      ECHOLINE_ASSIGN(field.bytes, take(8));
      return field;
    }
    case WireType::kFixed32: {
      ECHOLINE_ASSIGN(field.bytes, take(4));
      return field;
    }
  }
  return Status(Code::kDataLoss, "a field of an unknown kind");
}

}  // namespace echoline::record
