// One batch as a line of JSON: its samples, and checksums of their bytes.
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
  bool checksums = false;      // one per field, over the batch's bytes
  bool row_checksums = false;  // one per row and field
};

// `keys` may be empty. Checksums are XXH3 (64 bits) in 16 hex digits. Throws the client library's
// exceptions of reading the batch.
std::string batch_line(const Batch& batch, const std::vector<std::string>& fields,
                       const std::vector<std::string>& keys, const BatchLineOptions& options);

}  // namespace echoline::cli
