// Headers of the two array files that hold records of equal size: IDX (the MNIST family) and
// NumPy's .npy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::record {

enum class ElementKind : std::uint8_t { kUnsigned, kSigned, kFloat };

// Type of the elements as they lie in the file.
struct ElementType {
  ElementKind kind = ElementKind::kUnsigned;
  std::uint32_t bytes = 1;
  bool big_endian = false;
};

struct ArrayHeader {
  ElementType type;
  std::vector<std::uint64_t> shape;
  std::uint64_t header_bytes = 0;

  // Elements of all dimensions from `from` on; headers are only accepted when data_bytes fits 62
  // bits.
  std::uint64_t elements(std::size_t from = 0) const;
  std::uint64_t data_bytes() const { return elements() * type.bytes; }
};

// Bytes of a file's start that hold any header read here.
inline constexpr std::uint64_t kArrayHeadBytes = 4096;

bool is_idx(std::span<const std::byte> head);
bool is_npy(std::span<const std::byte> head);
// kDataLoss for what is no such header.
Result<ArrayHeader> parse_idx_header(std::span<const std::byte> head);
Result<ArrayHeader> parse_npy_header(std::span<const std::byte> head);

// "uint8", "int32", ... as configured; kInvalidArgument for others.
Result<ElementType> element_type(std::string_view name);

// Copies elements, turned into little-endian order.
void copy_little_endian(std::span<const std::byte> from, const ElementType& type, std::byte* to);

// The element at `at`, already little-endian, as the shortest decimal text that reads back as the
// same number.
std::string element_text(const ElementType& type, const std::byte* at);

}  // namespace echoline::record
