#include "record/parquet/values.h"

#include <fmt/core.h>

#include <cstring>
#include <optional>
#include <utility>

#include "record/parquet/delta_values.h"
#include "record/parquet/levels.h"

namespace echoline::record {
namespace {

// PLAIN, values of one width.
class PlainFixed final : public ValueDecoder {
 public:
  PlainFixed(std::span<const std::byte> bytes, std::size_t width) : rest_(bytes), width_(width) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    if (count > rest_.size() / width_) return false;
    const auto taken = rest_.first(count * width_);
    rest_ = rest_.subspan(taken.size());
    batch.count = count;
    batch.width = width_;
    batch.fixed.assign(taken.begin(), taken.end());
    return true;
  }

 private:
  std::span<const std::byte> rest_;
  const std::size_t width_;
};

// PLAIN, a length of four bytes before each text.
class PlainTexts final : public ValueDecoder {
 public:
  explicit PlainTexts(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    batch.count = count;
    batch.width = 0;
    batch.texts.clear();
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t bytes = 0;
      if (rest_.size() < sizeof(bytes)) return false;
      std::memcpy(&bytes, rest_.data(), sizeof(bytes));
      if (bytes > rest_.size() - sizeof(bytes)) return false;
      batch.texts.push_back(rest_.subspan(sizeof(bytes), bytes));
      rest_ = rest_.subspan(sizeof(bytes) + bytes);
    }
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

// PLAIN booleans are one bit each.
class PlainBooleans final : public ValueDecoder {
 public:
  explicit PlainBooleans(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    if (count > bytes_.size() * 8 - bit_) return false;
    batch.count = count;
    batch.width = 1;
    batch.fixed.resize(count);
    for (std::byte& value : batch.fixed) value = static_cast<std::byte>(bits_at(bytes_, bit_++, 1));
    return true;
  }

 private:
  const std::span<const std::byte> bytes_;
  std::uint64_t bit_ = 0;
};

// RLE booleans.
class RleBooleans final : public ValueDecoder {
 public:
  explicit RleBooleans(std::span<const std::byte> bytes) : bits_(bytes, 1) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    numbers_.resize(count);
    if (!bits_.decode(numbers_)) return false;
    batch.count = count;
    batch.width = 1;
    batch.fixed.resize(count);
    for (std::size_t i = 0; i < count; ++i) batch.fixed[i] = static_cast<std::byte>(numbers_[i]);
    return true;
  }

 private:
  HybridDecoder bits_;
  std::vector<std::uint32_t> numbers_;
};

// Longer values of a dictionary are not copied: a small page can name a long one very often.
constexpr std::size_t kCopiedBytesMax = 64;

// RLE_DICTIONARY: each value is the place of one in the dictionary.
class DictionaryValues final : public ValueDecoder {
 public:
  DictionaryValues(HybridDecoder places, const ValueBatch& dictionary)
      : places_(places), dictionary_(dictionary) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    numbers_.resize(count);
    if (!places_.decode(numbers_)) return false;
    batch.count = count;
    batch.width = dictionary_.width <= kCopiedBytesMax ? dictionary_.width : 0;
    batch.texts.clear();
    batch.fixed.resize(count * batch.width);
    std::byte* to = batch.fixed.data();
    for (const std::uint32_t place : numbers_) {
      if (place >= dictionary_.count) return false;
      const auto value = dictionary_[place];
      if (batch.width == 0) {
        batch.texts.push_back(value);
        continue;
      }
      std::memcpy(to, value.data(), batch.width);
      to += batch.width;
    }
    return true;
  }

 private:
  HybridDecoder places_;
  const ValueBatch& dictionary_;
  std::vector<std::uint32_t> numbers_;
};

// BYTE_STREAM_SPLIT: first the first bytes of all values, then the second ones, and so on.
class SplitStreams final : public ValueDecoder {
 public:
  SplitStreams(std::span<const std::byte> bytes, std::size_t width)
      : bytes_(bytes), width_(width), values_(bytes.size() / width) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    if (count > values_ - next_) return false;
    batch.count = count;
    batch.width = width_;
    batch.fixed.resize(count * width_);
    for (std::size_t byte = 0; byte < width_; ++byte) {
      const std::byte* from = bytes_.data() + byte * values_ + next_;
      for (std::size_t i = 0; i < count; ++i) batch.fixed[i * width_ + byte] = from[i];
    }
    next_ += count;
    return true;
  }

 private:
  const std::span<const std::byte> bytes_;
  const std::size_t width_;
  const std::size_t values_;
  std::size_t next_ = 0;
};

Result<std::unique_ptr<ValueDecoder>> make_plain(const Column& column,
                                                 std::span<const std::byte> values) {
  if (column.type == PhysicalType::kBoolean) return {std::make_unique<PlainBooleans>(values)};
  const std::size_t width = stored_width(column);
  if (width == 0) return {std::make_unique<PlainTexts>(values)};
  return {std::make_unique<PlainFixed>(values, width)};
}

Result<std::unique_ptr<ValueDecoder>> make_dictionary(std::span<const std::byte> values,
                                                      const Dictionary* dictionary) {
  if (dictionary == nullptr) return Status(Code::kDataLoss, "no dictionary page before its values");
  // The first byte is the width of a place. A page of nulls has no byte.
  const unsigned width = values.empty() ? 0 : std::to_integer<unsigned>(values[0]);
  if (width > HybridDecoder::kWidthMax) return Status(Code::kDataLoss, "a wrong dictionary width");
  const HybridDecoder places(values.empty() ? values : values.subspan(1), width);
  return {std::make_unique<DictionaryValues>(places, dictionary->values())};
}

// Four bytes with their length come before the values.
Result<std::unique_ptr<ValueDecoder>> make_rle_booleans(std::span<const std::byte> values) {
  std::uint32_t bytes = 0;
  if (values.empty()) return {std::make_unique<RleBooleans>(values)};
  if (values.size() >= sizeof(bytes)) std::memcpy(&bytes, values.data(), sizeof(bytes));
  if (values.size() < sizeof(bytes) || bytes > values.size() - sizeof(bytes)) {
    return Status(Code::kDataLoss, "a wrong length of booleans");
  }
  return {std::make_unique<RleBooleans>(values.subspan(sizeof(bytes), bytes))};
}

Status unknown_encoding(Encoding encoding) {
  return Status(Code::kUnimplemented,
                fmt::format("encoding {} is not one for this type", static_cast<int>(encoding)));
}

}  // namespace

std::size_t stored_width(const Column& column) {
  switch (column.type) {
    case PhysicalType::kBoolean:
      return 1;
    case PhysicalType::kInt32:
    case PhysicalType::kFloat:
      return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble:
      return 8;
    case PhysicalType::kFixedLenByteArray:
      return column.type_bytes;
    case PhysicalType::kInt96:
    case PhysicalType::kByteArray:
      break;
  }
  return 0;
}

bool Dictionary::read(const Column& column, Buffer page, std::size_t count) {
  page_ = std::move(page);
  const auto plain = make_plain(column, page_.span());
  // Each value of a page has at least a bit.
  return count <= page_.size() * 8 && (*plain)->decode(count, values_);
}

Result<std::unique_ptr<ValueDecoder>> make_value_decoder(const Column& column, Encoding encoding,
                                                         std::span<const std::byte> values,
                                                         std::size_t values_max,
                                                         const Dictionary* dictionary) {
  const bool integers = column.type == PhysicalType::kInt32 || column.type == PhysicalType::kInt64;
  const std::size_t width = stored_width(column);
  const bool texts = width == 0 || column.type == PhysicalType::kFixedLenByteArray;
  switch (encoding) {
    case Encoding::kPlain:
      return make_plain(column, values);
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary:
      return make_dictionary(values, dictionary);
    case Encoding::kRle:
      if (column.type == PhysicalType::kBoolean) return make_rle_booleans(values);
      break;
    case Encoding::kDeltaBinaryPacked:
      if (integers) return make_delta_integers(values, width);
      break;
    case Encoding::kDeltaLengthByteArray:
      if (width == 0) return make_delta_lengths(values, values_max);
      break;
    case Encoding::kDeltaByteArray:
      if (texts) return make_delta_texts(values, values_max, width);
      break;
    case Encoding::kByteStreamSplit:
      if (width > 0 && column.type != PhysicalType::kBoolean) {
        return {std::make_unique<SplitStreams>(values, width)};
      }
      break;
    case Encoding::kBitPacked:
      break;
  }
  return unknown_encoding(encoding);
}

}  // namespace echoline::record
