// What is packed, record by record, whatever it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "pack/pack.h"

namespace echoline::cli {

// One record on its way into a shard; reused.
struct PackItem {
  std::string extension;
  std::string data;
  std::optional<std::string> label;  // decimal
};

// Records 0 to count() - 1, readable in any order. Single-threaded.
class PackInput {
 public:
  virtual ~PackInput() = default;
  virtual std::uint64_t count() const = 0;
  virtual Status read(std::uint64_t record, PackItem& item) = 0;
};

Result<std::unique_ptr<PackInput>> open_pack_input(const PackOptions& options);

// Fields of one CSV line: commas separate, double quotes hold commas together, "" is a quote
// within.
Result<std::vector<std::string>> parse_csv_line(std::string_view line);

}  // namespace echoline::cli
