// The base object of a view: numpy keeps it, and it keeps the batch, as long as any array on it
// lives.
#pragma once

#include <cstddef>
#include <memory>

#include "echoline/echoline.h"
#include "object.h"

namespace echoline::python {

// Gives the batch's slots back with its last owner.
using Lease = std::shared_ptr<echoline_batch>;

// Read-only memory of a batch, row-major: what numpy's __array_struct__ tells.
struct Memory {
  Lease lease;
  const void* data = nullptr;
  char kind = 'u';  // numpy's letter
  int item_bytes = 1;
  int rank = 0;
  Py_ssize_t shape[ECHOLINE_RANK_MAX] = {};
};

// Once, at the module's start. False with an exception.
bool make_memory_type();

// A new object; null with an exception.
PyObject* make_memory(const Memory& memory);

}  // namespace echoline::python
