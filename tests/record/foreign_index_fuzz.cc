// Arbitrary text as an index of another program: refused, or records within the shard that follow
// each other without gaps.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "record/tar/wds_index.h"
#include "record/tfrecord/tfrecord.h"

namespace {

void check(const echoline::Result<echoline::record::RecordTable>& table, std::uint64_t bytes) {
  if (!table.ok()) return;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < table->size(); ++i) {
    if (table->offset[i] != end || table->bytes[i] > bytes - end) std::abort();
    end += table->bytes[i];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::uint64_t bytes = std::uint64_t{data[0]} * 512 + data[0] % 3;
  check(parse_tfrecord_index(text, bytes), bytes);
  check(parse_wds_index(text, bytes), bytes);
  check(parse_wds_index("v1.2 1\n" + std::string(text), bytes), bytes);
  (void)check_tar_rest(std::as_bytes(std::span(text))).ok();
  return 0;
}
