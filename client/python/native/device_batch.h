// A batch on a GPU: its properties, its lease, and its tensors. The base class of
// echoline.cuda.Batch.
#pragma once

#include "echoline/echoline_cuda.h"
#include "object.h"

namespace echoline::python {

// Creates the class; null if an exception is set.
PyObject* make_device_batch_type();

// Creates an instance of `type`, a subclass of the class above, that owns `batch`, which was taken
// for `stream`. Null if an exception is set; the batch is released then, too.
PyObject* wrap_device_batch(PyTypeObject* type, PyObject* fields, echoline_cuda_batch* batch,
                            void* stream);

}  // namespace echoline::python
