// IDX: two zero bytes, type, rank, big-endian sizes. NPY: magic, version, length, a Python
// dictionary as text.
#include "record/arrays/array_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "record/core/text.h"

namespace echoline::record {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

// The position is within the bytes; callers have checked it.
std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

std::optional<ElementType> idx_type(std::uint8_t code) {
  // The codes of the IDX format.
  switch (code) {
    case 0x08:
      return ElementType{ElementKind::kUnsigned, 1, true};
    case 0x09:
      return ElementType{ElementKind::kSigned, 1, true};
    case 0x0B:
      return ElementType{ElementKind::kSigned, 2, true};
    case 0x0C:
      return ElementType{ElementKind::kSigned, 4, true};
    case 0x0D:
      return ElementType{ElementKind::kFloat, 4, true};
    case 0x0E:
      return ElementType{ElementKind::kFloat, 8, true};
    default:
      return std::nullopt;
  }
}

bool size_is_sane(const ArrayHeader& header) {
  // Bounds the product below 2^62, so that no later sum overflows.
  std::uint64_t product = header.type.bytes;
  for (const std::uint64_t size : header.shape) {
    if (size != 0 && product > (std::uint64_t{1} << 62) / size) return false;
    // A size of 0 makes the array empty, but must not hide other sizes.
    product *= std::max<std::uint64_t>(size, 1);
  }
  return true;
}

// The text after "'key':" in the header's dictionary.
// A search instead of a parser: NumPy writes the keys in a fixed form.
std::optional<std::string_view> npy_value(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size() + 2);
  const std::size_t start = text.find_first_not_of(": ");
  if (start == std::string_view::npos) return std::nullopt;
  return text.substr(start);
}

std::optional<ElementType> npy_type(std::string_view text) {
  // '<u2', '|u1', '>i4'. A structured type starts with '[' and is not supported.
  if (text.size() < 5 || text[0] != '\'' || text[4] != '\'') return std::nullopt;
  ElementType type;
  // '|' is the order of one byte, where it has no meaning.
  type.big_endian = text[1] == '>';
  if (text[1] != '<' && text[1] != '>' && text[1] != '|') return std::nullopt;
  if (text[2] == 'i') type.kind = ElementKind::kSigned;
  if (text[2] == 'f') type.kind = ElementKind::kFloat;
  if (text[2] != 'u' && text[2] != 'i' && text[2] != 'f') return std::nullopt;
  if (text[3] != '1' && text[3] != '2' && text[3] != '4' && text[3] != '8') return std::nullopt;
  type.bytes = static_cast<std::uint32_t>(text[3] - '0');
  // NumPy has no float of one byte.
  if (type.kind == ElementKind::kFloat && type.bytes == 1) return std::nullopt;
  return type;
}

bool npy_shape(std::string_view text, std::vector<std::uint64_t>& shape) {
  if (text.empty() || text[0] != '(') return false;
  text.remove_prefix(1);
  while (!text.empty() && text[0] != ')') {
    // A comma also follows the only size of one dimension, "(5,)".
    if (text[0] == ' ' || text[0] == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    // No array here has more dimensions; this bounds what a wrong header costs.
    if (error != std::errc() || shape.size() == 8) return false;
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return !text.empty();
}

Result<ArrayHeader> parse_npy_text(std::string_view text, std::uint64_t header_bytes) {
  ArrayHeader header;
  header.header_bytes = header_bytes;
  const auto descr = npy_value(text, "descr"), order = npy_value(text, "fortran_order"),
             shape = npy_value(text, "shape");
  const auto type = descr ? npy_type(*descr) : std::nullopt;
  if (!type) return Status(Code::kDataLoss, "npy file whose type is no plain integer or float");
  header.type = *type;
  if (!order || !shape || !npy_shape(*shape, header.shape) || !size_is_sane(header)) {
    return Status(Code::kDataLoss, "npy header without a usable shape");
  }
  // With one dimension both orders are the same.
  if (order->starts_with("True") && header.shape.size() > 1) {
    return Status(Code::kUnimplemented,
                  "npy array in Fortran order: save numpy.ascontiguousarray(array) instead");
  }
  return header;
}

template <typename T>
std::string decimal(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  // {:d}, because one byte would be formatted as a character.
  if constexpr (sizeof(T) == 1) return fmt::format("{:d}", value);
  return fmt::format("{}", value);
}

}  // namespace

std::uint64_t ArrayHeader::elements(std::size_t from) const {
  std::uint64_t product = 1;
  for (std::size_t i = from; i < shape.size(); ++i) product *= shape[i];
  return product;
}

bool is_idx(std::span<const std::byte> head) {
  // IDX has no magic number, so all of these must fit. An array of one dimension has 8 bytes of
  // header.
  return head.size() >= 8 && byte_at(head, 0) == 0 && byte_at(head, 1) == 0 &&
         idx_type(byte_at(head, 2)) && byte_at(head, 3) >= 1 && byte_at(head, 3) <= 8;
}

bool is_npy(std::span<const std::byte> head) { return as_text(head).starts_with(kNpyMagic); }

Result<ArrayHeader> parse_idx_header(std::span<const std::byte> head) {
  if (!is_idx(head)) return Status(Code::kDataLoss, "no IDX header");
  ArrayHeader header;
  header.type = *idx_type(byte_at(head, 2));
  const std::size_t rank = byte_at(head, 3);
  // Two zeros, type, rank, then four bytes for each size.
  header.header_bytes = 4 + 4 * rank;
  if (head.size() < header.header_bytes) return Status(Code::kDataLoss, "IDX header is cut off");
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint64_t size = 0;
    for (std::size_t j = 0; j < 4; ++j) size = size << 8 | byte_at(head, 4 + 4 * i + j);
    header.shape.push_back(size);
  }
  if (!size_is_sane(header)) return Status(Code::kDataLoss, "IDX header with an impossible size");
  return header;
}

Result<ArrayHeader> parse_npy_header(std::span<const std::byte> head) {
  if (!is_npy(head) || head.size() < 12) return Status(Code::kDataLoss, "no npy header");
  // From version 2 on, the length has four bytes.
  const bool long_form = byte_at(head, 6) >= 2;
  const std::size_t start = long_form ? 12 : 10;
  std::uint64_t length = byte_at(head, 8) | static_cast<std::uint64_t>(byte_at(head, 9)) << 8;
  if (long_form) {
    length |= static_cast<std::uint64_t>(byte_at(head, 10)) << 16 |
              static_cast<std::uint64_t>(byte_at(head, 11)) << 24;
  }
  if (length > head.size() - start) return Status(Code::kDataLoss, "npy header is cut off");
  return parse_npy_text(as_text(head.subspan(start, length)), start + length);
}

Status check_element_type(const ElementType& type, const std::string& url, std::string_view as) {
  const auto wanted = element_type(as);
  // Text and the like have no elements of their own.
  if (!wanted.ok() || (wanted->kind == type.kind && wanted->bytes == type.bytes)) return {};
  const char* kind = type.kind == ElementKind::kFloat    ? "float"
                     : type.kind == ElementKind::kSigned ? "int"
                                                         : "uint";
  return Status(Code::kInvalidArgument, fmt::format("{} has elements of type {}{}; `as` says {}",
                                                    url, kind, 8 * type.bytes, as));
}

Result<ElementType> element_type(std::string_view name) {
  ElementType type;
  // The number of bits follows the name.
  std::string_view rest = name;
  if (rest.starts_with("uint")) {
    rest.remove_prefix(4);
  } else if (rest.starts_with("int")) {
    type.kind = ElementKind::kSigned;
    rest.remove_prefix(3);
  } else if (rest.starts_with("float")) {
    type.kind = ElementKind::kFloat;
    rest.remove_prefix(5);
  }
  const bool integer = rest.size() < name.size() && type.kind != ElementKind::kFloat;
  if (rest == "8" && integer)
    type.bytes = 1;
  else if (rest == "16" && integer)
    type.bytes = 2;
  // No known name was removed from the front.
  else if (rest.size() == name.size())
    return Status(Code::kInvalidArgument, fmt::format("'{}' is no element type", name));
  else if (rest == "32")
    type.bytes = 4;
  else if (rest == "64")
    type.bytes = 8;
  else
    return Status(Code::kInvalidArgument, fmt::format("'{}' is no element type", name));
  return type;
}

void copy_little_endian(std::span<const std::byte> from, const ElementType& type, std::byte* to) {
  if (from.empty()) return;
  // As it is first; only big-endian elements are turned.
  std::memcpy(to, from.data(), from.size());
  if (!type.big_endian || type.bytes == 1) return;
  for (std::size_t at = 0; at + type.bytes <= from.size(); at += type.bytes) {
    std::reverse(to + at, to + at + type.bytes);
  }
}

std::string element_text(const ElementType& type, const std::byte* at) {
  if (type.kind == ElementKind::kFloat) {
    return type.bytes == 4 ? decimal<float>(at) : decimal<double>(at);
    // Chooses the C++ type of the same size and sign.
  }
  const bool with_sign = type.kind == ElementKind::kSigned;
  switch (type.bytes) {
    case 1:
      return with_sign ? decimal<std::int8_t>(at) : decimal<std::uint8_t>(at);
    case 2:
      return with_sign ? decimal<std::int16_t>(at) : decimal<std::uint16_t>(at);
    case 4:
      return with_sign ? decimal<std::int32_t>(at) : decimal<std::uint32_t>(at);
    default:
      return with_sign ? decimal<std::int64_t>(at) : decimal<std::uint64_t>(at);
  }
}

}  // namespace echoline::record
