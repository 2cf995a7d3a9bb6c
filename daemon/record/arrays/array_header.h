// Parses the headers of the two array formats with records of equal size: IDX (the MNIST family)
// and NumPy's .npy.
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

// Type of the elements as stored in the file.
struct ElementType {
  ElementKind kind = ElementKind::kUnsigned;
  std::uint32_t bytes = 1;
  bool big_endian = false;
};

// kInvalidArgument if `as` names another type of elements than the one of the file at `url`.
Status check_element_type(const ElementType& type, const std::string& url, std::string_view as);

struct ArrayHeader {
  ElementType type;
  std::vector<std::uint64_t> shape;
  std::uint64_t header_bytes = 0;

  // Number of elements over the dimensions from `from` on. Headers are accepted only if data_bytes
  // fits 62 bits.
  std::uint64_t elements(std::size_t from = 0) const;
  std::uint64_t data_bytes() const { return elements() * type.bytes; }
};

// The first bytes of a file that contain every header accepted here.
inline constexpr std::uint64_t kArrayHeadBytes = 4096;

bool is_idx(std::span<const std::byte> head);
bool is_npy(std::span<const std::byte> head);
// kDataLoss for any other bytes.
Result<ArrayHeader> parse_idx_header(std::span<const std::byte> head);
Result<ArrayHeader> parse_npy_header(std::span<const std::byte> head);

// "uint8", "int32", ... as configured; kInvalidArgument for others.
Result<ElementType> element_type(std::string_view name);

// Copies elements and converts them to little-endian order.
void copy_little_endian(std::span<const std::byte> from, const ElementType& type, std::byte* to);

// The little-endian element at `at` as the shortest decimal text that parses back to the same
// number.
std::string element_text(const ElementType& type, const std::byte* at);

}  // namespace echoline::record
