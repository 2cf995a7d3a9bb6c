#include "record/parquet/levels.h"

namespace echoline::record {

std::optional<std::uint64_t> take_varint(std::span<const std::byte>& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto next = std::to_integer<std::uint64_t>(bytes[0]);
    bytes = bytes.subspan(1);
    value |= (next & 0x7F) << shift;
    if (next < 0x80) return value;
  }
  return std::nullopt;
}

bool HybridDecoder::begin_run() {
  const auto header = take_varint(rest_);
  if (!header) return false;
  packed_ = (*header & 1) != 0;
  left_ = *header >> 1;
  if (!packed_) {
    const std::size_t bytes = (width_ + 7) / 8;
    if (rest_.size() < bytes) return false;
    value_ = 0;
    std::memcpy(&value_, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return width_ == kWidthMax || value_ >> width_ == 0;
  }
  // Eight values in a group. The last group of a page may be cut where its padding begins.
  if (left_ > (std::uint64_t{1} << 32)) return false;
  const std::uint64_t bytes = std::min<std::uint64_t>(left_ * width_, rest_.size());
  left_ = width_ == 0 ? left_ * 8 : std::min<std::uint64_t>(left_ * 8, bytes * 8 / width_);
  groups_ = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  bit_ = 0;
  return true;
}

bool HybridDecoder::decode(std::span<std::uint32_t> out) {
  while (!out.empty()) {
    // A run may be empty; each has at least a byte.
    if (left_ == 0) {
      if (rest_.empty() || !begin_run()) return false;
      continue;
    }
    const auto now = out.first(std::min<std::uint64_t>(left_, out.size()));
    out = out.subspan(now.size());
    left_ -= now.size();
    if (!packed_) {
      std::fill(now.begin(), now.end(), value_);
      continue;
    }
    for (std::uint32_t& value : now) {
      value = static_cast<std::uint32_t>(bits_at(groups_, bit_, width_));
      bit_ += width_;
    }
  }
  return true;
}

}  // namespace echoline::record
