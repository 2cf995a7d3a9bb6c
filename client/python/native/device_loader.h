// A loader's batches on a GPU.
#pragma once

#include "object.h"

namespace echoline::python {

// The class, new; null with an exception.
PyObject* make_device_loader_type();

}  // namespace echoline::python
