// All numbers are little-endian, like this machine.
#include "record/megatron/sequence_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/crc.h"
#include "record/core/text.h"

namespace echoline::record {
namespace {

constexpr std::string_view kMagic{"MMIDIDX\0\0", 9};
// What is read at a time, which bounds the memory for it.
constexpr std::uint64_t kPieceNumbers = 1 << 20;

template <typename T>
T number_at(std::span<const std::byte> bytes, std::uint64_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<ElementType> token_type(std::uint8_t code) {
  switch (code) {
    case 1:
      return ElementType{ElementKind::kUnsigned, 1};
    case 2:
      return ElementType{ElementKind::kSigned, 1};
    case 3:
      return ElementType{ElementKind::kSigned, 2};
    case 4:
      return ElementType{ElementKind::kSigned, 4};
    case 5:
      return ElementType{ElementKind::kSigned, 8};
    case 8:
      return ElementType{ElementKind::kUnsigned, 2};
    default:
      return std::nullopt;
  }
}

// `count` numbers of the type T, of which the first one is at `offset`.
template <typename T>
Result<std::vector<T>> read_numbers(const ReadRange& read, std::uint64_t offset,
                                    std::uint64_t count) {
  ECHOLINE_ASSIGN(const std::vector<std::byte> bytes, read(offset, count * sizeof(T)));
  if (bytes.size() != count * sizeof(T)) {
    return Status(Code::kDataLoss, "the index file is cut off");
  }
  std::vector<T> numbers(count);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// Calls `take` with the number of the first element and the number of elements of each piece.
template <typename Take>
Status for_each_piece(std::uint64_t count, const Take& take) {
  for (std::uint64_t first = 0; first < count; first += kPieceNumbers) {
    ECHOLINE_TRY(take(first, std::min(kPieceNumbers, count - first)));
  }
  return {};
}

// Appends a sequence; `number` is its number in the file.
Status add_sequence(std::uint64_t number, std::int32_t length, std::int64_t pointer,
                    const ElementType& type, std::uint64_t tokens, Sequences& sequences) {
  const std::uint64_t begin = sequences.begin.back();
  if (static_cast<std::uint64_t>(pointer) != begin * type.bytes) {
    return Status(Code::kDataLoss,
                  fmt::format("sequence {} is at byte {} and not at {}: only sequences that follow "
                              "each other without gaps are read",
                              number, pointer, begin * type.bytes));
  }
  if (length < 0 || static_cast<std::uint64_t>(length) > tokens - begin) {
    return Status(Code::kDataLoss,
                  fmt::format("sequence {} has {} tokens where the .bin file has {} left: the two "
                              "files do not belong together, or one is damaged",
                              number, length, tokens - begin));
  }
  if (length > 0) sequences.begin.push_back(begin + static_cast<std::uint64_t>(length));
  return {};
}

Status check_documents(const SequenceHeader& header, const ReadRange& read) {
  std::int64_t last = 0;
  return for_each_piece(header.documents, [&](std::uint64_t first, std::uint64_t count) -> Status {
    ECHOLINE_ASSIGN(const std::vector<std::int64_t> begins,
                    read_numbers<std::int64_t>(read, header.documents_at() + 8 * first, count));
    for (std::uint64_t i = 0; i < count; ++i) {
      if (begins[i] < last || static_cast<std::uint64_t>(begins[i]) > header.sequences) {
        return Status(Code::kDataLoss, fmt::format("document {} begins at sequence {} of {}",
                                                   first + i, begins[i], header.sequences));
      }
      last = begins[i];
    }
    return {};
  });
}

}  // namespace

bool is_sequence_index(std::span<const std::byte> head) {
  return as_text(head).starts_with(kMagic);
}

Result<SequenceHeader> parse_sequence_header(std::span<const std::byte> head,
                                             std::uint64_t file_bytes) {
  if (head.size() < kSequenceHeaderBytes || !is_sequence_index(head)) {
    return Status(Code::kDataLoss, "no index file of Megatron's IndexedDataset (MMIDIDX)");
  }
  const auto version = number_at<std::uint64_t>(head, 9);
  if (version != 1) {
    return Status(Code::kUnimplemented, fmt::format("version {} is not read, only 1", version));
  }
  SequenceHeader header;
  const auto code = number_at<std::uint8_t>(head, 17);
  const auto type = token_type(code);
  if (!type) {
    return Status(Code::kUnimplemented,
                  fmt::format("tokens of type {} are not read, only integers", code));
  }
  header.type = *type;
  header.sequences = number_at<std::uint64_t>(head, 18);
  header.documents = number_at<std::uint64_t>(head, 26);
  // The first comparison keeps the sums below from overflowing.
  if (header.sequences > file_bytes / 12 || header.documents > file_bytes / 8 ||
      (header.end() != file_bytes && header.end() + header.sequences != file_bytes)) {
    return Status(Code::kDataLoss,
                  fmt::format("{} sequences and {} documents do not fit into {} bytes: the index "
                              "file is truncated or damaged",
                              header.sequences, header.documents, file_bytes));
  }
  return header;
}

Result<Sequences> read_sequences(const SequenceHeader& header, std::uint64_t token_bytes,
                                 const ReadRange& read) {
  Sequences sequences;
  const std::uint64_t tokens = token_bytes / header.type.bytes;
  const auto take = [&](std::uint64_t first, std::uint64_t count) -> Status {
    ECHOLINE_ASSIGN(const std::vector<std::int32_t> lengths,
                    read_numbers<std::int32_t>(read, kSequenceHeaderBytes + 4 * first, count));
    ECHOLINE_ASSIGN(const std::vector<std::int64_t> pointers,
                    read_numbers<std::int64_t>(read, header.pointers_at() + 8 * first, count));
    sequences.checksum = crc32c(sequences.checksum, std::as_bytes(std::span(lengths)));
    for (std::uint64_t i = 0; i < count; ++i) {
      ECHOLINE_TRY(
          add_sequence(first + i, lengths[i], pointers[i], header.type, tokens, sequences));
    }
    return {};
  };
  ECHOLINE_TRY(for_each_piece(header.sequences, take));
  if (sequences.begin.back() * header.type.bytes != token_bytes) {
    return Status(Code::kDataLoss,
                  fmt::format("its sequences have {} bytes in all, the .bin file has {}: the two "
                              "files do not belong together",
                              sequences.begin.back() * header.type.bytes, token_bytes));
  }
  ECHOLINE_TRY(check_documents(header, read));
  return sequences;
}

}  // namespace echoline::record
