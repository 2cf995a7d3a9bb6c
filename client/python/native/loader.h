// A loader of the C library, and the iterator of one `for` over it. The base class of
// echoline.Loader.
#pragma once

#include "object.h"

namespace echoline::python {

// The class, new; null with an exception.
PyObject* make_loader_type();

// The next batch; null at an epoch's end, and null with an exception.
PyObject* next_batch(PyObject* loader);

// Once, at the module's start. False with an exception.
bool make_epoch_type();

// The iterator of an epoch that was begun; null with an exception.
PyObject* iterate(PyObject* loader);

}  // namespace echoline::python
