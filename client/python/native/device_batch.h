// A batch on a GPU: its facts, its lease, and its tensors. The base class of echoline.cuda.Batch.
#pragma once

#include "echoline/echoline_cuda.h"
#include "object.h"

namespace echoline::python {

// The class, new; null with an exception.
PyObject* make_device_batch_type();

// An instance of `type`, a subclass of the class above, that owns `batch`, which was taken for
// `stream`; null with an exception, and then the batch is given back.
PyObject* wrap_device_batch(PyTypeObject* type, PyObject* fields, echoline_cuda_batch* batch,
                            void* stream);

// A stream as the array API and CUDA's array interface count: 1, and None, are the legacy default
// stream, 2 is the one of each thread, others are handles. So is 0 here: torch's number of the
// former. False with an exception.
bool read_stream(PyObject* number, void*& stream);

}  // namespace echoline::python
