// The GPU side of a loader.
#pragma once

#include "object.h"

namespace echoline::python {

// Creates the class; null if an exception is set.
PyObject* make_device_loader_type();

}  // namespace echoline::python
