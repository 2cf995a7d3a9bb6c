#include "waiting.h"

#include <cmath>

#include "errors.h"

namespace echoline::python {
namespace {

constexpr double kLongestSeconds = 1e9;

}  // namespace

bool read_timeout(PyObject* timeout, std::int64_t& timeout_ms) {
  timeout_ms = -1;
  if (timeout == Py_None) return true;
  const double seconds = PyFloat_AsDouble(timeout);
  if (PyErr_Occurred() != nullptr) return false;
  if (std::isnan(seconds)) {
    raise_status(ECHOLINE_INVALID_ARGUMENT, "timeout is no number of seconds");
    return false;
  }
  timeout_ms = std::llround(std::clamp(seconds, 0.0, kLongestSeconds) * 1000);
  return true;
}

void raise_timeout(PyObject* loader, PyObject* timeout) {
  PyObject* stream = PyObject_GetAttrString(loader, "stream");
  if (stream == nullptr) return;
  PyErr_Format(PyExc_TimeoutError, "no batch of %S was ready within %S s", stream, timeout);
  Py_DECREF(stream);
}

}  // namespace echoline::python
