// A loader of the C library, and the iterator of one `for` over it. The base class of
// echoline.Loader.
#pragma once

#include <memory>

#include "echoline/echoline.h"
#include "object.h"

namespace echoline::python {

using Handle = std::shared_ptr<echoline_loader>;

// Creates the class; null if an exception is set.
PyObject* make_loader_type();

// The handle of the C library. Before the first attach it is empty, and an exception is set.
Handle handle_of(PyObject* loader);

// Passes the daemon's messages about other ranks to the loader's method _log_news. False if an
// exception is set.
bool log_news(PyObject* loader, echoline_loader* handle);

// Creates the class of the iterator of one `for`, which calls a loader's next(). iterate() then
// creates its objects. Null if an exception is set.
PyObject* make_epoch_type();

// Creates the iterator of an epoch that has begun; null if an exception is set.
PyObject* iterate(PyObject* loader);

}  // namespace echoline::python
