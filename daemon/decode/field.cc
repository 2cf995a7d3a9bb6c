#include "decode/field.h"

#include <fmt/format.h>

#include <algorithm>

#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr std::uint64_t kTensorBytesMax = std::uint64_t{2} << 30;
constexpr std::size_t kQuotedBytesMax = 32;

}  // namespace

Result<Shape> shape_of(const v1::DecodeField& entry, shm::DType dtype) {
  if (static_cast<std::size_t>(entry.shape_size()) > kRankMax) {
    return Status(Code::kInvalidArgument, fmt::format("shape has {} sizes; at most {} are allowed",
                                                      entry.shape_size(), kRankMax));
  }
  Shape shape;
  std::uint64_t bytes = shm::dtype_bytes(dtype);
  for (const std::uint32_t size : entry.shape()) {
    if (size == 0) return Status(Code::kInvalidArgument, "shape has a size of 0");
    bytes *= size;  // below 2^63: both factors are below 2^32
    if (bytes > kTensorBytesMax) {
      return Status(Code::kInvalidArgument, "shape has more than 2 GiB");
    }
    shape.sizes[shape.rank++] = size;
  }
  return shape;
}

// The bytes come from users' data: unprintable ones must not reach a terminal.
std::string quoted(std::span<const std::byte> bytes) {
  std::string text = "\"";
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kQuotedBytesMax))) {
    const auto value = std::to_integer<unsigned char>(byte);
    if (value >= 0x20 && value < 0x7F) {
      text += static_cast<char>(value);
    } else {
      text += fmt::format("\\x{:02x}", value);
    }
  }
  return text + (bytes.size() > kQuotedBytesMax ? "\"..." : "\"");
}

}  // namespace echoline::decode
