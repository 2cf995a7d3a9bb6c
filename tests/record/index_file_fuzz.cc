// Any bytes as an index file, with a checksum that holds: refused, or consistent and the same when
// written again.
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "record/stored_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::uint64_t sum = XXH3_64bits(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  const auto index = decode_index(std::as_bytes(std::span(bytes)));
  if (!index.ok()) return 0;
  for (std::size_t i = 0; i < index->records.size(); ++i) (void)index->records.key(i);
  const std::string again = encode_index(*index);
  if (!decode_index(std::as_bytes(std::span(again))).ok()) std::abort();
  return 0;
}
