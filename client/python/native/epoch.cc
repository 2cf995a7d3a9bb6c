#include "echoline/echoline.h"
#include "errors.h"
#include "loader.h"

namespace echoline::python {
namespace {

struct Epoch {
  PyObject* loader = nullptr;
  bool over = false;
  bool busy = false;  // a thread waits in it

  Epoch() = default;
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;
  ~Epoch() { Py_XDECREF(loader); }
};

PyTypeObject* epoch_type = nullptr;

PyObject* next(PyObject* self) {
  Epoch& epoch = value_of<Epoch>(self);
  if (epoch.over) return nullptr;
  if (epoch.busy) {
    // One of the two would run on into the next epoch.
    return raise_status(ECHOLINE_INVALID_ARGUMENT,
                        "another thread is in this loop; threads share a loader by its next()");
  }
  epoch.busy = true;
  PyObject* batch = next_batch(epoch.loader);
  epoch.busy = false;
  epoch.over = batch == nullptr && PyErr_Occurred() == nullptr;
  return batch;
}

PyMethodDef methods[] = {{"__reduce__", refuse_pickle, METH_NOARGS, nullptr}, {}};

}  // namespace

bool make_epoch_type() {
  PyType_Slot slots[] = {slot(Py_tp_dealloc, destroy<Epoch>),
                         slot(Py_tp_iter, PyObject_SelfIter),
                         slot(Py_tp_iternext, next),
                         slot(Py_tp_methods, methods),
                         {}};
  PyType_Spec spec = {"echoline._echoline.Epoch", sizeof(Object<Epoch>), 0, Py_TPFLAGS_DEFAULT,
                      slots};
  epoch_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return epoch_type != nullptr;
}

PyObject* iterate(PyObject* loader) {
  PyObject* self = make<Epoch>(epoch_type);
  if (self != nullptr) Py_INCREF(value_of<Epoch>(self).loader = loader);
  return self;
}

}  // namespace echoline::python
