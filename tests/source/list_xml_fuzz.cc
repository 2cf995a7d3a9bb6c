// Hostile listings and errors: arbitrary bytes give a page or an error, never a crash or an endless
// loop.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/store/s3_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto page = echoline::source::parse_s3_list(xml);
  if (page.ok() && page->truncated && page->next.empty()) std::abort();
  const auto error = echoline::source::parse_s3_error(xml);
  if (error.message.size() > 300 || error.code.size() > 300) std::abort();
  return 0;
}
