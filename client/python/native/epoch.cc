#include "echoline/echoline.h"
#include "errors.h"
#include "loader.h"

namespace echoline::python {
namespace {

struct Epoch {
  PyObject* next = nullptr;  // a bound method of the loader
  bool over = false;
  bool busy = false;  // a thread is in next()

  Epoch() = default;
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;
  ~Epoch() { Py_XDECREF(next); }
};

PyObject* epoch_type = nullptr;

// Epoch(next)
PyObject* new_epoch(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* next = nullptr;
  if (PyArg_ParseTuple(arguments, "O:Epoch", &next) == 0) return nullptr;
  PyObject* self = make<Epoch>(type);
  if (self != nullptr) Py_INCREF(value_of<Epoch>(self).next = next);
  return self;
}

PyObject* next(PyObject* self) {
  Epoch& epoch = value_of<Epoch>(self);
  if (epoch.over) return nullptr;
  if (epoch.busy) {
    // At the end of the epoch one of two threads would continue with the next epoch.
    return raise_status(ECHOLINE_INVALID_ARGUMENT,
                        "another thread is in this loop; threads share a loader by its next()");
  }
  epoch.busy = true;
  PyObject* batch = PyObject_CallObject(epoch.next, nullptr);
  epoch.busy = false;
  epoch.over = batch == Py_None;
  if (epoch.over) Py_CLEAR(batch);
  return batch;
}

PyMethodDef methods[] = {{"__reduce__", refuse_pickle, METH_NOARGS, nullptr}, {}};

}  // namespace

PyObject* make_epoch_type() {
  PyType_Slot slots[] = {slot(Py_tp_new, new_epoch),          slot(Py_tp_dealloc, destroy<Epoch>),
                         slot(Py_tp_iter, PyObject_SelfIter), slot(Py_tp_iternext, next),
                         slot(Py_tp_methods, methods),        {}};
  PyType_Spec spec = {"echoline._echoline.Epoch", sizeof(Object<Epoch>), 0, Py_TPFLAGS_DEFAULT,
                      slots};
  epoch_type = PyType_FromSpec(&spec);
  Py_XINCREF(epoch_type);
  return epoch_type;
}

PyObject* iterate(PyObject* loader) {
  return PyObject_CallFunction(epoch_type, "N", PyObject_GetAttrString(loader, "next"));
}

}  // namespace echoline::python
