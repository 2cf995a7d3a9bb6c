// Parses the index files (.idx) of Megatron-LM's data sets: where each sequence is in the file of
// tokens (.bin) next to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/arrays/array_header.h"

namespace echoline::record {

// Magic, version, type of the tokens, and two counts. Behind it, for each sequence: its length
// (int32); its place in bytes (int64); then the numbers of the first sequences of documents
// (int64); and, in files with pictures, a mode for each sequence (int8).
inline constexpr std::uint64_t kSequenceHeaderBytes = 34;

struct SequenceHeader {
  ElementType type;
  std::uint64_t sequences = 0;
  std::uint64_t documents = 0;  // entries of the list of documents

  std::uint64_t pointers_at() const { return kSequenceHeaderBytes + 4 * sequences; }
  std::uint64_t documents_at() const { return pointers_at() + 8 * sequences; }
  std::uint64_t end() const { return documents_at() + 8 * documents; }
};

bool is_sequence_index(std::span<const std::byte> head);
// `file_bytes` is the size of the whole index file: its counts must agree with it. kUnimplemented
// for another version or type, kDataLoss for other bytes.
Result<SequenceHeader> parse_sequence_header(std::span<const std::byte> head,
                                             std::uint64_t file_bytes);

// Sequences without tokens are left out.
struct Sequences {
  // In tokens from the start of the file; one more than sequences: the last one is the end.
  std::vector<std::uint64_t> begin{0};
  std::uint32_t checksum = 0;  // CRC-32C of the lengths in the index file
};

// Returns a range of the index file; it is within the size that the header agrees with.
using ReadRange =
    std::function<Result<std::vector<std::byte>>(std::uint64_t offset, std::uint64_t bytes)>;

// Reads the rest of the index file in pieces. `token_bytes` is the size of the file of tokens.
// kDataLoss if sequences do not follow each other without gaps, or do not fill that file.
Result<Sequences> read_sequences(const SequenceHeader& header, std::uint64_t token_bytes,
                                 const ReadRange& read);

}  // namespace echoline::record
