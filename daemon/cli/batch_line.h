// One batch as a line of JSON: which samples stood in it, and what their bytes were.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace echoline {
class Batch;
}

namespace echoline::cli {

struct BatchLineOptions {
  std::uint32_t rank = 0;
  bool checksums = false;      // one a field, over the batch's bytes
  bool row_checksums = false;  // one a row and field
};

// `keys` may be empty. Checksums are XXH3 (64 bits) in 16 hex digits. Throws what reading the batch
// throws.
std::string batch_line(const Batch& batch, const std::vector<std::string>& fields,
                       const std::vector<std::string>& keys, const BatchLineOptions& options);

}  // namespace echoline::cli
