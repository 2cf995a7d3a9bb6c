// The compiled module of the package: Python classes on top of the C ABI.
#include "batch.h"
#include "device_batch.h"
#include "device_loader.h"
#include "device_tensor.h"
#include "echoline/echoline.h"
#include "errors.h"
#include "fault_report.h"
#include "loader.h"

namespace echoline::python {
namespace {

PyObject* version(PyObject*, PyObject*) { return PyUnicode_FromString(echoline_version()); }

PyObject* runtime_dir(PyObject*, PyObject*) {
  char text[4096] = "";
  echoline_runtime_dir(text, sizeof(text));
  return PyUnicode_DecodeFSDefault(text);
}

PyObject* start_explaining(PyObject*, PyObject*) {
  explain_faults();
  Py_RETURN_NONE;
}

// Refuses subinterpreters: this module stores classes and functions in globals, which belong to one
// interpreter. False if an exception is set.
bool check_interpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return true;
  PyErr_SetString(PyExc_ImportError,
                  "echoline cannot be imported in a subinterpreter; use threads or processes");
  return false;
}

bool add(PyObject* module, const char* name, PyObject* object) {
  const bool added = object != nullptr && PyModule_AddObject(module, name, object) == 0;
  if (!added) Py_XDECREF(object);
  return added;
}

int fill(PyObject* module) {
  const bool filled = check_interpreter() && find_errors() && make_memory_type() &&
                      add(module, "Batch", make_batch_type()) &&
                      add(module, "Epoch", make_epoch_type()) &&
                      add(module, "Loader", make_loader_type()) &&
                      add(module, "DeviceTensor", make_device_tensor_type()) &&
                      add(module, "DeviceBatch", make_device_batch_type()) &&
                      add(module, "DeviceLoader", make_device_loader_type());
  return filled ? 0 : -1;
}

PyMethodDef functions[] = {{"version", version, METH_NOARGS, nullptr},
                           {"explain_faults", start_explaining, METH_NOARGS, nullptr},
                           {"refuse_pickle", refuse_pickle, METH_NOARGS, nullptr},
                           {"runtime_dir", runtime_dir, METH_NOARGS, nullptr},
                           {}};
PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(fill)}, {}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_echoline", nullptr, 0, functions, slots, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace echoline::python

// CPython calls the function with this name.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
PyMODINIT_FUNC PyInit__echoline() { return PyModuleDef_Init(&echoline::python::definition); }
