#include "decode/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace echoline::decode {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic = "\x93NUMPY"sv;

std::string_view text_of(std::span<const std::byte> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// The text after "'key':" in the header's dictionary, without leading blanks; empty if the key is
// missing.
std::string_view value_after(std::string_view dictionary, std::string_view key) {
  const std::size_t found = dictionary.find(key);
  if (found == std::string_view::npos) return {};
  std::string_view rest = dictionary.substr(found + key.size());
  const std::size_t first = rest.find_first_not_of(": ");
  return first == std::string_view::npos ? std::string_view{} : rest.substr(first);
}

Status malformed(std::string_view reason) {
  return {Code::kDataLoss, fmt::format(".npy header: {}", reason)};
}

Result<shm::DType> dtype_of(std::string_view value) {
  constexpr std::pair<std::string_view, shm::DType> kNames[] = {
      {"u1", shm::kUint8},   {"i1", shm::kInt8},    {"u2", shm::kUint16}, {"i2", shm::kInt16},
      {"u4", shm::kUint32},  {"i4", shm::kInt32},   {"u8", shm::kUint64}, {"i8", shm::kInt64},
      {"f2", shm::kFloat16}, {"f4", shm::kFloat32}, {"f8", shm::kFloat64}};
  // For example '<f4': quote, byte order, kind, size, quote.
  if (value.size() < 5) return malformed("no element type");
  const bool little = value[1] == '<' || value[1] == '|';
  for (const auto& [name, dtype] : kNames) {
    if (little && value.substr(2, 2) == name && value[4] == value[0]) return dtype;
  }
  return Status(Code::kInvalidArgument,
                fmt::format(".npy elements of type {} are not read", value.substr(0, 5)));
}

// "(3, 4)", "(3,)" or "()".
Result<Shape> shape_in(std::string_view value) {
  Shape shape;
  if (value.empty() || value[0] != '(') return malformed("no shape");
  const char* at = value.data() + 1;
  const char* const end = value.data() + value.size();
  while (at < end && *at != ')') {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    if (shape.rank == kRankMax) return malformed("too many sizes in the shape");
    const auto [stop, error] = std::from_chars(at, end, shape.sizes[shape.rank]);
    if (error != std::errc()) return malformed("the shape has an element that is not a size");
    ++shape.rank;
    at = stop;
  }
  if (at == end) return malformed("the shape does not end");
  return shape;
}

}  // namespace

bool is_npy(std::span<const std::byte> file) { return text_of(file).starts_with(kMagic); }

Result<NpyHeader> read_npy_header(std::span<const std::byte> file) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(file[i]); };
  if (file.size() < 12) return malformed("it ends early");
  const std::size_t major = byte(6);
  if (major < 1 || major > 3) return malformed("an unknown version");
  const std::size_t start = major == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > file.size() - start) return malformed("it ends early");

  const std::string_view dictionary = text_of(file).substr(start, length);
  NpyHeader header;
  ECHOLINE_ASSIGN(header.dtype, dtype_of(value_after(dictionary, "'descr'")));
  ECHOLINE_ASSIGN(header.shape, shape_in(value_after(dictionary, "'shape'")));
  const std::string_view fortran = value_after(dictionary, "'fortran_order'");
  if (fortran.starts_with("True") && header.shape.rank > 1) {
    return Status(Code::kInvalidArgument, ".npy array in Fortran order; save it in C order");
  }
  header.bytes = start + length;
  return header;
}

}  // namespace echoline::decode
