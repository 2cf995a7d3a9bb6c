// Arbitrary bytes as an index file of Megatron: refused, or sequences that ascend and fill the file
// of tokens. Rows packed with them hold each token once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>

#include "record/megatron/best_fit.h"
#include "record/megatron/sequence_index.h"

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
  const auto rows = fill_rows(begin, row_tokens);
  std::uint64_t tokens = 0;
  for (const std::uint32_t piece : rows->tokens) tokens += piece;
  if (tokens != begin.back()) std::abort();
  return 0;
}
