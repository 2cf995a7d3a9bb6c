// Arbitrary bytes as an index file of Megatron: refused, or sequences that ascend and fill the file
// of tokens. Rows packed with them hold as many tokens, and can be made.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>

#include "echoline/v1/config.pb.h"
#include "record/megatron/packed_row.h"
#include "record/megatron/row_layout.h"
#include "record/megatron/sequence_index.h"

namespace echoline::record {
namespace {

void pack(const SequenceHeader& header, const Sequences& sequences, std::uint32_t row_tokens,
          const char* method) {
  v1::Pack settings;
  settings.set_length(row_tokens);
  settings.set_method(method);
  const auto layout = make_row_layout(settings, sequences);
  std::uint64_t tokens = 0;
  Fields fields;
  for (std::uint64_t row = 0; row < (*layout)->rows(); ++row) {
    const std::vector<Piece> pieces = (*layout)->pieces(row);
    std::uint64_t of_row = 0;
    for (const Piece& piece : pieces) of_row += piece.tokens;
    const std::vector<std::byte> bytes(of_row * header.type.bytes, std::byte{1});
    // 0x0101010101010101 does not fit into int32.
    const Status filled = fill_packed_row({row_tokens, 0}, header.type, pieces, bytes, fields);
    if (filled.ok() == (header.type.bytes == 8)) std::abort();
    tokens += of_row;
  }
  if (tokens != sequences.begin.back()) std::abort();
}

}  // namespace
}  // namespace echoline::record

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline;
  using namespace echoline::record;
  if (size < 2) return 0;
  // Two bytes choose the size of the .bin file, and the length of rows.
  const std::uint64_t token_bytes = data[0];
  const std::uint32_t row_tokens = 1 + data[1];
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data) + 2, size - 2);
  const auto header =
      parse_sequence_header(file.first(std::min<std::size_t>(file.size(), 34)), file.size());
  if (!header.ok()) return 0;
  const auto read = [file](std::uint64_t offset,
                           std::uint64_t bytes) -> Result<std::vector<std::byte>> {
    if (offset > file.size() || bytes > file.size() - offset) std::abort();
    const auto range = file.subspan(offset, bytes);
    return std::vector<std::byte>(range.begin(), range.end());
  };
  const auto sequences = read_sequences(*header, token_bytes, read);
  if (!sequences.ok()) return 0;
  const auto& begin = sequences->begin;
  if (begin.front() != 0 || begin.back() * header->type.bytes != token_bytes) std::abort();
  if (std::adjacent_find(begin.begin(), begin.end(), std::greater_equal<>()) != begin.end()) {
    std::abort();
  }
  for (const char* method : {"cut", "best_fit"}) pack(*header, *sequences, row_tokens, method);
  return 0;
}
