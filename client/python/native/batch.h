// A batch: its properties, its lease, and the memory of its fields. The base class of
// echoline.Batch.
#pragma once

#include "memory.h"

namespace echoline::python {

// Creates the class; null if an exception is set.
PyObject* make_batch_type();

// Creates an instance of `type`, a subclass of the class above, that owns `batch`. Null if an
// exception is set; the batch is released then, too.
PyObject* wrap_batch(PyTypeObject* type, PyObject* fields, echoline_batch* batch);

}  // namespace echoline::python
