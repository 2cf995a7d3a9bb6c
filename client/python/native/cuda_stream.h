// Streams of CUDA as Python programs pass them.
#pragma once

#include "object.h"

namespace echoline::python {

// Converts a stream in the numbering of the array API and CUDA's array interface: None and 1 are
// the legacy default stream, 2 is the per-thread stream, other numbers are handles. 0 is the legacy
// default stream, too, as in torch. False if an exception is set.
bool read_stream(PyObject* number, void*& stream);

}  // namespace echoline::python
