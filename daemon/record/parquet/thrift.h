// Reads Thrift's compact protocol, in which Parquet's footers and page headers are written
// (parquet-format, "Metadata"; Thrift, "Compact protocol encoding").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace echoline::record {

enum class ThriftType : std::uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13,
};

// A field of a struct, or an element of a list, whose value comes next.
struct ThriftField {
  std::int32_t id = 0;  // 0 for an element
  ThriftType type = ThriftType::kStop;
};

// Single-threaded; never reads outside of the bytes. After the first error every value is 0 or
// empty, and structs and lists end: the caller checks ok() at the end.
class ThriftReader {
 public:
  explicit ThriftReader(std::span<const std::byte> bytes) : all_(bytes.size()), rest_(bytes) {}
  bool ok() const { return !failed_; }
  // Whether the error is that the bytes end too early.
  bool truncated() const { return truncated_; }
  std::size_t bytes_read() const { return all_ - rest_.size(); }

  // Calls read(field) for each field of a struct. It must consume the value, by one of the
  // functions below; any field that it does not know by skip().
  template <typename Read>
  void each_field(Read read) {
    if (++depth_ > kDepthMax) fail();
    std::int32_t id = 0;
    while (ok()) {
      const ThriftField field = next_field(id);
      if (field.type == ThriftType::kStop) break;
      read(field);
    }
    --depth_;
  }
  // The same for each element of a list.
  template <typename Read>
  void each_element(const ThriftField& list, Read read) {
    if (++depth_ > kDepthMax) fail();
    ThriftField element;
    for (std::uint64_t left = begin_list(list, element); ok() && left > 0; --left) read(element);
    --depth_;
  }
  // The value of a field of any integer type.
  std::int64_t integer(const ThriftField& field);
  bool boolean(const ThriftField& field);
  std::string_view binary(const ThriftField& field);
  void skip(const ThriftField& field);
  // The bytes are not what the caller can use.
  void fail() { failed_ = true; }

 private:
  static constexpr int kDepthMax = 32;

  ThriftField next_field(std::int32_t& id);
  std::uint64_t begin_list(const ThriftField& list, ThriftField& element);
  void skip_map();
  std::uint64_t varint();
  std::int64_t zigzag();
  std::uint8_t byte();
  std::span<const std::byte> take(std::uint64_t count);

  const std::size_t all_;
  std::span<const std::byte> rest_;
  int depth_ = 0;
  bool failed_ = false;
  bool truncated_ = false;
};

}  // namespace echoline::record
