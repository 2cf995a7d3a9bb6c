// Decodes the values of a page by their encoding (parquet-format, "Encodings").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "record/parquet/schema.h"

namespace echoline::record {

// The numbers are those of the specification (parquet.thrift).
enum class Encoding : std::uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
};

// Some values, one after the other. They stay valid until the next ones are decoded. Long ones of
// one width can be in `texts`, too: these point to bytes that are there already.
struct ValueBatch {
  std::size_t count = 0;
  std::size_t width = 0;                          // bytes of each value in `fixed`; 0: texts
  std::vector<std::byte> fixed;                   // if they have one width
  std::vector<std::span<const std::byte>> texts;  // else

  std::span<const std::byte> operator[](std::size_t at) const {
    return width == 0 ? texts[at] : std::span(fixed).subspan(at * width, width);
  }
};

// Bytes of a decoded value of that column as it is stored; 0: they vary.
std::size_t stored_width(const Column& column);

// Single-threaded. The bytes of the page must stay valid.
class ValueDecoder {
 public:
  virtual ~ValueDecoder() = default;
  // Replaces `batch` by the next `count` values. False if the page ends too early or is wrong.
  virtual bool decode(std::size_t count, ValueBatch& batch) = 0;
};

// The values of a dictionary page, for the data pages behind it.
class Dictionary {
 public:
  // False if the page has fewer values.
  bool read(const Column& column, Buffer page, std::size_t count);
  std::size_t size() const { return values_.count; }
  const ValueBatch& values() const { return values_; }

 private:
  Buffer page_;
  ValueBatch values_;
};

// `values`: the page from its first value on, of which it has `values_max` at most. `dictionary` is
// null if there was no dictionary page. kUnimplemented for an encoding that the specification does
// not have for that type, kDataLoss for a wrong start.
Result<std::unique_ptr<ValueDecoder>> make_value_decoder(const Column& column, Encoding encoding,
                                                         std::span<const std::byte> values,
                                                         std::size_t values_max,
                                                         const Dictionary* dictionary);

}  // namespace echoline::record
