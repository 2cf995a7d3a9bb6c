// Exceptions of this module; the classes are those of _errors.py.
#pragma once

#include "object.h"

namespace echoline::python {

// Once, at the module's start. False with an exception.
bool find_errors();

// Raises what this thread's last call with that status says. Returns null.
PyObject* raise_status(int status);

// The same for a failure that the library has no text for.
PyObject* raise_status(int status, const char* text);

// True if the status is ECHOLINE_OK; else raises.
bool check(int status);

// __reduce__ of what belongs to this process.
PyObject* refuse_pickle(PyObject* self, PyObject* nothing);

// __new__ of what only this module makes: object's own would leave out its C++ value.
PyObject* refuse_new(PyTypeObject* type, PyObject* arguments, PyObject* named);

}  // namespace echoline::python
