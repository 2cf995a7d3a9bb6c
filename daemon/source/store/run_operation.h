// Runs one operation to its end.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "source/http/http_operations.h"

namespace echoline::source {

// Blocks; no other may be in flight in `operations`.
template <typename T>
Result<std::unique_ptr<T>> run(HttpOperations& operations, std::unique_ptr<T> operation) {
  std::vector<OperationResult> ended;
  operations.start(0, std::move(operation));
  while (ended.empty()) operations.step(UINT64_MAX, ended);
  ECHOLINE_TRY(std::move(ended[0].status));
  return std::unique_ptr<T>(static_cast<T*>(ended[0].operation.release()));
  // The caller knows the type: it is the operation that was started above.
}

}  // namespace echoline::source
