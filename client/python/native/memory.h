// The base object of a numpy view: as long as an array on it exists, it keeps the batch.
#pragma once

#include <cstddef>
#include <memory>

#include "echoline/echoline.h"
#include "fault_report.h"
#include "object.h"

namespace echoline::python {

// The last owner releases the batch.
using Lease = std::shared_ptr<echoline_batch>;

// Read-only, row-major memory of a batch, with the contents of numpy's __array_struct__.
struct Memory {
  Lease lease;
  const void* data = nullptr;
  char kind = 'u';  // numpy's type letter
  int item_bytes = 1;
  int rank = 0;
  Py_ssize_t shape[ECHOLINE_RANK_MAX] = {};
  WatchedMemory watched;
};

// Call once, when the module is loaded. False if an exception is set.
bool make_memory_type();

// Creates an object; null if an exception is set. `name` is for explain_faults().
PyObject* make_memory(Memory memory, const MemoryName& name);

}  // namespace echoline::python
