// A loader of the C library, and the iterator of one `for` over it. The base class of
// echoline.Loader.
#pragma once

#include <memory>

#include "echoline/echoline.h"
#include "object.h"

namespace echoline::python {

using Handle = std::shared_ptr<echoline_loader>;

// The class, new; null with an exception.
PyObject* make_loader_type();

// What an instance of it is attached by; empty, with an exception, before the first attach.
Handle handle_of(PyObject* loader);

// Gives what the daemon said about other trainers to the loader's _hear; false with an exception.
bool pass_on_news(PyObject* loader, echoline_loader* handle);

// The class of the iterator of one `for`, made of a loader's next(), to which iterate() belongs
// from then on; null with an exception.
PyObject* make_epoch_type();

// The iterator of an epoch that was begun; null with an exception.
PyObject* iterate(PyObject* loader);

}  // namespace echoline::python
