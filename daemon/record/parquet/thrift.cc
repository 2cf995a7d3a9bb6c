#include "record/parquet/thrift.h"

namespace echoline::record {
namespace {

constexpr bool is_integer(ThriftType type) {
  return type >= ThriftType::kByte && type <= ThriftType::kInt64;
}

}  // namespace

std::span<const std::byte> ThriftReader::take(std::uint64_t count) {
  if (failed_ || count > rest_.size()) {
    truncated_ = truncated_ || !failed_;
    failed_ = true;
    return {};
  }
  const auto taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

std::uint8_t ThriftReader::byte() {
  const auto taken = take(1);
  return taken.empty() ? 0 : std::to_integer<std::uint8_t>(taken[0]);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    value |= std::uint64_t{next & 0x7FU} << shift;
    if ((next & 0x80U) == 0) return value;
  }
  fail();
  return 0;
}

std::int64_t ThriftReader::zigzag() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
}

// The high four bits are the distance of the id from the last one; 0: the id follows.
ThriftField ThriftReader::next_field(std::int32_t& id) {
  const std::uint8_t head = byte();
  if (failed_ || (head & 0x0FU) == 0) return {};
  const std::int64_t wanted = (head >> 4) != 0 ? id + (head >> 4) : zigzag();
  if ((head & 0x0FU) > static_cast<unsigned>(ThriftType::kUuid) || wanted < 0 || wanted > 32767) {
    fail();
    return {};
  }
  id = static_cast<std::int32_t>(wanted);
  return {id, static_cast<ThriftType>(head & 0x0FU)};
}

// The number of elements. Each has at least one byte, so a wrong number ends soon.
std::uint64_t ThriftReader::begin_list(const ThriftField& list, ThriftField& element) {
  if (list.type != ThriftType::kList && list.type != ThriftType::kSet) fail();
  const std::uint8_t head = byte();
  const std::uint64_t count = (head >> 4) == 15 ? varint() : head >> 4;
  if ((head & 0x0FU) > static_cast<unsigned>(ThriftType::kUuid)) fail();
  if (!failed_ && count > rest_.size()) {
    truncated_ = true;
    fail();
  }
  element = {0, static_cast<ThriftType>(head & 0x0FU)};
  return failed_ ? 0 : count;
}

std::int64_t ThriftReader::integer(const ThriftField& field) {
  if (!is_integer(field.type)) {
    fail();
    return 0;
  }
  if (field.type == ThriftType::kByte) return static_cast<std::int8_t>(byte());
  const std::int64_t value = zigzag();
  return failed_ ? 0 : value;
}

// The type of a field says its value; an element of a list has a byte.
bool ThriftReader::boolean(const ThriftField& field) {
  if (field.type != ThriftType::kTrue && field.type != ThriftType::kFalse) fail();
  if (field.id == 0) return byte() == static_cast<std::uint8_t>(ThriftType::kTrue);
  return ok() && field.type == ThriftType::kTrue;
}

std::string_view ThriftReader::binary(const ThriftField& field) {
  if (field.type != ThriftType::kBinary) fail();
  const auto taken = take(varint());
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

void ThriftReader::skip_map() {
  const std::uint64_t count = varint();
  if (count == 0) return;
  const std::uint8_t types = byte();
  const ThriftField key{0, static_cast<ThriftType>(types >> 4)};
  const ThriftField value{0, static_cast<ThriftType>(types & 0x0FU)};
  for (std::uint64_t left = count; ok() && left > 0; --left) {
    skip(key);
    skip(value);
  }
}

void ThriftReader::skip(const ThriftField& field) {
  switch (field.type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      boolean(field);
      return;
    case ThriftType::kByte:
    case ThriftType::kInt16:
    case ThriftType::kInt32:
    case ThriftType::kInt64:
      integer(field);
      return;
    case ThriftType::kDouble:
      take(8);
      return;
    case ThriftType::kUuid:
      take(16);
      return;
    case ThriftType::kBinary:
      binary(field);
      return;
    case ThriftType::kStruct:
      each_field([this](const ThriftField& inner) { skip(inner); });
      return;
    case ThriftType::kList:
    case ThriftType::kSet:
      each_element(field, [this](const ThriftField& inner) { skip(inner); });
      return;
    case ThriftType::kMap:
      if (++depth_ > kDepthMax) fail();
      skip_map();
      --depth_;
      return;
    case ThriftType::kStop:
      break;
  }
  fail();
}

}  // namespace echoline::record
