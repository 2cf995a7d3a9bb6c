// The records to pack, one at a time: the interface of all input formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"

namespace echoline::cli {

// One record to write; reused from record to record.
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

}  // namespace echoline::cli
