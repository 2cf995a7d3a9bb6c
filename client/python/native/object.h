// Python objects with a C++ value inside. Uses only the stable ABI of CPython 3.9: one wheel works
// with all later versions.
#pragma once

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <structmember.h>

#include <new>

namespace echoline::python {

template <typename T>
struct Object {
  PyObject_HEAD T value;
};

template <typename T>
T& value_of(PyObject* self) {
  return reinterpret_cast<Object<T>*>(self)->value;
}

// Creates an instance with a default value; null if an exception is set.
template <typename T>
PyObject* make(PyTypeObject* type) {
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (self != nullptr) new (&value_of<T>(self)) T();
  return self;
}

// The deallocator of such a type and its subclasses.
template <typename T>
void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  value_of<T>(self).~T();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

template <typename T>
PyType_Slot slot(int number, T* function) {
  return {number, reinterpret_cast<void*>(function)};
}

// Runs `work` without the GIL, so that other Python threads run. `work` must not use Python
// objects.
template <typename Work>
int without_gil(Work work) {
  PyThreadState* state = PyEval_SaveThread();
  const int status = work();
  PyEval_RestoreThread(state);
  return status;
}

}  // namespace echoline::python
