// A batch: its facts, its lease, and the memory of its fields. The base class of echoline.Batch.
#pragma once

#include "memory.h"

namespace echoline::python {

// The class, new; null with an exception.
PyObject* make_batch_type();

// An instance of `type`, a subclass of the class above, that owns `batch`; null with an exception,
// and then the batch is given back.
PyObject* wrap_batch(PyTypeObject* type, PyObject* fields, echoline_batch* batch);

}  // namespace echoline::python
