// Raises the exceptions of _errors.py.
#pragma once

#include "object.h"

namespace echoline::python {

// Call once, when the module is loaded. False if an exception is set.
bool find_errors();

// Raises the exception for `status` with the text of this thread's last error. Returns null.
PyObject* raise_status(int status);

// The same with another text.
PyObject* raise_status(int status, const char* text);

// Raises unless the status is ECHOLINE_OK; returns whether it is.
bool check(int status);

// __reduce__ of objects that cannot leave this process.
PyObject* refuse_pickle(PyObject* self, PyObject* nothing);

// __new__ of classes that only this module instantiates: object.__new__ would not construct the C++
// value.
PyObject* refuse_new(PyTypeObject* type, PyObject* arguments, PyObject* named);

}  // namespace echoline::python
