#include "cuda_stream.h"

#include "errors.h"

namespace echoline::python {

bool read_stream(PyObject* number, void*& stream) {
  unsigned long long handle = 1;
  if (number != Py_None) handle = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred() != nullptr) return false;
  stream = handle <= 1 ? nullptr : reinterpret_cast<void*>(handle);
  return true;
}

}  // namespace echoline::python
