// Arbitrary bytes as the head of an IDX or npy file: refused, or a header whose numbers do not
// overflow.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "record/arrays/array_header.h"
#include "record/files/class_names.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  const std::span<const std::byte> head(reinterpret_cast<const std::byte*>(data), size);
  for (const auto& header : {parse_idx_header(head), parse_npy_header(head)}) {
    if (!header.ok()) continue;
    if (header->header_bytes > size || header->shape.size() > 8) std::abort();
    if (header->data_bytes() > std::uint64_t{1} << 62) std::abort();
  }
  (void)ClassNames::from_text({reinterpret_cast<const char*>(data), size}).ok();
  return 0;
}
