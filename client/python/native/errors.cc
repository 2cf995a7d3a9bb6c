#include "errors.h"

#include <cstring>

#include "echoline/echoline.h"

namespace echoline::python {
namespace {

PyObject* error_of = nullptr;

}  // namespace

bool find_errors() {
  PyObject* errors = PyImport_ImportModule("echoline._errors");
  if (errors == nullptr) return false;
  error_of = PyObject_GetAttrString(errors, "error_of");
  Py_DECREF(errors);
  return error_of != nullptr;
}

PyObject* raise_status(int status) { return raise_status(status, echoline_last_error()); }

PyObject* raise_status(int status, const char* text) {
  PyObject* said =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
  if (said == nullptr) return nullptr;
  PyObject* error =
      PyObject_CallFunction(error_of, "isN", status, echoline_status_text(status), said);
  if (error != nullptr) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
    Py_DECREF(error);
  }
  return nullptr;
}

bool check(int status) {
  if (status != ECHOLINE_OK) raise_status(status);
  return status == ECHOLINE_OK;
}

PyObject* refuse_pickle(PyObject*, PyObject*) {
  PyErr_SetString(
      PyExc_TypeError,
      "an Echoline loader or batch can be neither pickled nor deep-copied: each process "
      "attaches a Loader of its own, under a job or rank of its own; batch.copy() can be "
      "sent");
  return nullptr;
}

PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "only a loader makes these");
  return nullptr;
}

}  // namespace echoline::python
