// Arbitrary bytes as a list of files: refused, or rows of equal width within its text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "record/files/list_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view name : {"a.csv", "a.jsonl", "a.txt"}) {
    auto table = ListTable::parse(name, text);
    if (!table.ok()) continue;
    if (!table->append(ListTable(*table)).ok()) std::abort();
    std::size_t cells = 0;
    for (std::uint64_t row = 0; row < table->rows(); ++row) {
      if (table->path(row).empty()) std::abort();
      for (std::size_t i = 0; i < table->columns().size(); ++i)
        cells += table->value(row, i).size();
    }
    if (cells > 12 * size + 64) std::abort();
  }
  return 0;
}
