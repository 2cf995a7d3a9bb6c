#include "record/parquet/delta.h"

#include <algorithm>
#include <optional>

#include "record/parquet/levels.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kBlockValuesMax = 1 << 20;
constexpr std::uint64_t kCountMax = std::uint64_t{1} << 31;

std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

// Any width up to 64.
std::uint64_t wide_bits_at(std::span<const std::byte> bytes, std::uint64_t bit, unsigned width) {
  if (width <= 32) return bits_at(bytes, bit, width);
  return bits_at(bytes, bit, 32) | bits_at(bytes, bit + 32, width - 32) << 32;
}

}  // namespace

bool DeltaDecoder::begin(std::span<const std::byte> bytes) {
  *this = {};
  rest_ = bytes;
  const auto block = take_varint(rest_), miniblocks = take_varint(rest_),
             count = take_varint(rest_), first = take_varint(rest_);
  if (!block || !miniblocks || !count || !first || *miniblocks == 0) return false;
  miniblocks_ = *miniblocks;
  miniblock_values_ = *block / miniblocks_;
  count_ = *count;
  value_ = unzigzag(*first);
  return *block <= kBlockValuesMax && *block % 128 == 0 && *block % miniblocks_ == 0 &&
         miniblock_values_ % 32 == 0 && miniblock_values_ > 0 && count_ <= kCountMax;
}

bool DeltaDecoder::begin_block() {
  const auto delta_min = take_varint(rest_);
  if (!delta_min || rest_.size() < miniblocks_) return false;
  delta_min_ = unzigzag(*delta_min);
  widths_.resize(miniblocks_);
  for (std::uint8_t& width : widths_) {
    width = std::to_integer<std::uint8_t>(rest_[0]);
    rest_ = rest_.subspan(1);
  }
  miniblock_ = 0;
  return true;
}

bool DeltaDecoder::begin_miniblock() {
  if (miniblock_ == widths_.size() && !begin_block()) return false;
  const unsigned width = widths_[miniblock_];
  const std::uint64_t bytes = miniblock_values_ * width / 8;
  if (width > 64 || bytes > rest_.size()) return false;
  packed_ = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  bit_ = 0;
  left_ = miniblock_values_;
  return true;
}

std::uint64_t DeltaDecoder::next_delta() {
  const unsigned width = widths_[miniblock_];
  const std::uint64_t delta = wide_bits_at(packed_, bit_, width);
  bit_ += width;
  if (--left_ == 0) ++miniblock_;
  return delta_min_ + delta;
}

bool DeltaDecoder::decode(std::span<std::int64_t> out) {
  if (out.size() > count_ - made_) return false;
  for (std::int64_t& value : out) {
    // The first value is in the header.
    if (made_ > 0) {
      if (left_ == 0 && !begin_miniblock()) return false;
      value_ += next_delta();
    }
    ++made_;
    value = static_cast<std::int64_t>(value_);
  }
  return true;
}

}  // namespace echoline::record
