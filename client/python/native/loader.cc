#include "loader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "batch.h"
#include "errors.h"
#include "waiting.h"

namespace echoline::python {
namespace {

constexpr char kNextDoc[] =
    "next(timeout=None)\n--\n\n"
    "The next batch, or None at the end of an epoch; after that the next call continues with the "
    "next epoch. A `for` loop after calls of next() begins the next epoch, as after a break.\n\n"
    "Raises TimeoutError if no batch was ready within `timeout` seconds.";

struct Loader {
  Handle handle;                   // every running call keeps a copy
  char began = 0;                  // whether a batch was taken or skipped since the last attach
  PyObject* batch_type = nullptr;  // echoline.Batch
  PyObject* fields = nullptr;      // passed to every batch; null until attached

  Loader() = default;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader() {
    Py_XDECREF(fields);
    Py_XDECREF(batch_type);
  }
};

// The call may wait, so it drops the GIL.
void detach(echoline_loader* loader) {
  without_gil([&] { return echoline_detach(loader), ECHOLINE_OK; });
}

PyObject* new_loader(PyTypeObject* type, PyObject*, PyObject*) { return make<Loader>(type); }

PyObject* never_attached() {
  return raise_status(ECHOLINE_INVALID_ARGUMENT, "the loader was never attached");
}

// Runs `work` on the loader's handle without the GIL. False if an exception is set.
template <typename Work>
bool call(PyObject* self, Work work) {
  const Handle handle = handle_of(self);
  return handle != nullptr && check(without_gil([&] { return work(handle.get()); }));
}

// The first attempt keeps the GIL: if a busy thread took it each time, a ready batch would cost 10
// us instead of 0.3 us.
int take(PyObject* self, std::int64_t timeout_ms, echoline_batch** batch) {
  const Loader& loader = value_of<Loader>(self);
  const int status = echoline_next(loader.handle.get(), 0, batch);
  if (status != ECHOLINE_TIMEOUT || timeout_ms == 0) return status;
  const Handle handle = loader.handle;
  return wait_in_slices(
      timeout_ms, [&](std::int64_t slice) { return echoline_next(handle.get(), slice, batch); },
      [&] { return log_news(self, handle.get()); });
}

// next(timeout=None), in seconds: the next batch, or None at the end of an epoch; raises
// TimeoutError.
PyObject* next(PyObject* self, PyObject* arguments, PyObject* named) {
  static char timeout_name[] = "timeout";
  static char* names[] = {timeout_name, nullptr};
  PyObject* timeout = Py_None;
  if (PyArg_ParseTupleAndKeywords(arguments, named, "|O:next", names, &timeout) == 0) {
    return nullptr;
  }
  std::int64_t timeout_ms = -1;
  if (!read_timeout(timeout, timeout_ms)) return nullptr;
  Loader& loader = value_of<Loader>(self);
  if (loader.fields == nullptr || loader.batch_type == nullptr) return never_attached();
  echoline_batch* batch = nullptr;
  const int status = take(self, timeout_ms, &batch);
  switch (status) {
    case ECHOLINE_OK:
      loader.began = 1;
      return wrap_batch(reinterpret_cast<PyTypeObject*>(loader.batch_type), loader.fields, batch);
    case ECHOLINE_END_OF_EPOCH:
      if (!log_news(self, loader.handle.get())) return nullptr;
      Py_RETURN_NONE;
    case ECHOLINE_TIMEOUT:
      raise_timeout(self, timeout);
      return nullptr;
    case kRaised:
      return nullptr;
    default:
      return raise_status(status);
  }
}

PyObject* attach(PyObject* self, PyObject* arguments) {
  echoline_attach_options options;
  echoline_attach_options_init(&options, sizeof(options));
  options.flags = ECHOLINE_ATTACH_ASYNC | ECHOLINE_ATTACH_OVERLAP;
  long long reattach_ms = 0;
  if (PyArg_ParseTuple(arguments, "ssyIIIIILzz:_attach", &options.stream, &options.job,
                       &options.runtime_dir, &options.rank, &options.world_size,
                       &options.local_world_size, &options.batch_size, &options.join, &reattach_ms,
                       &options.expect, &options.state) == 0) {
    return nullptr;
  }
  options.reattach_ms = reattach_ms;
  echoline_loader* made = nullptr;
  if (!check(without_gil([&] { return echoline_attach(&options, &made); }))) return nullptr;
  Loader& loader = value_of<Loader>(self);
  try {
    loader.handle = Handle(made, detach);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  loader.began = 0;
  const Handle handle = loader.handle;
  const int status = wait_in_slices(
      -1, [&](std::int64_t slice) { return echoline_attach_wait(handle.get(), slice); },
      [&] { return log_news(self, handle.get()); });
  if (status == kRaised || !check(status)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* close(PyObject* self, PyObject*) {
  const Handle handle = value_of<Loader>(self).handle;
  if (handle != nullptr) without_gil([&] { return echoline_close(handle.get()); });
  Py_RETURN_NONE;
}

PyObject* begin_epoch(PyObject* self) {
  return call(self, echoline_begin_epoch) ? iterate(self) : nullptr;
}

PyObject* skip(PyObject* self, PyObject* steps) {
  const unsigned long long count = PyLong_AsUnsignedLongLong(steps);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (!call(self, [&](echoline_loader* handle) { return echoline_skip(handle, count); })) {
    return nullptr;
  }
  value_of<Loader>(self).began = 1;
  Py_RETURN_NONE;
}

// The exact number of batches of an epoch; TypeError if epochs differ in length.
Py_ssize_t length(PyObject* self) {
  std::uint64_t steps = 0;
  const Handle handle = handle_of(self);
  if (handle == nullptr) return -1;
  const int status = without_gil([&] { return echoline_steps_per_epoch(handle.get(), &steps); });
  if (status == ECHOLINE_FAILED_PRECONDITION) {
    PyErr_SetString(PyExc_TypeError, echoline_last_error());
    return -1;
  }
  return check(status) ? static_cast<Py_ssize_t>(steps) : -1;
}

// _report(losses, uses): bytes of float32 and of uint32, one for each row; the number of rows that
// were counted.
PyObject* report(PyObject* self, PyObject* arguments) {
  const char *losses = nullptr, *uses = nullptr;
  Py_ssize_t losses_bytes = 0, uses_bytes = 0;
  if (PyArg_ParseTuple(arguments, "y#y#:_report", &losses, &losses_bytes, &uses, &uses_bytes) == 0)
    return nullptr;
  const std::size_t rows = static_cast<std::size_t>(std::min(losses_bytes, uses_bytes)) / 4;
  std::size_t counted = 0;
  const auto give = [&](echoline_loader* handle) {
    return echoline_report(handle, reinterpret_cast<const float*>(losses),
                           reinterpret_cast<const std::uint32_t*>(uses), rows, &counted);
  };
  return call(self, give) ? PyLong_FromSize_t(counted) : nullptr;
}

PyObject* state(PyObject* self, PyObject*) {
  char text[8192];
  size_t size = 0;
  const auto write = [&](echoline_loader* handle) {
    return echoline_state(handle, text, sizeof(text), &size);
  };
  if (!call(self, write)) return nullptr;
  return PyUnicode_FromStringAndSize(text, static_cast<Py_ssize_t>(size));
}

PyObject* info(PyObject* self, PyObject*) {
  echoline_loader_info info{};
  info.size = sizeof(info);
  if (!call(self,
            [&](echoline_loader* handle) { return echoline_loader_get_info(handle, &info); })) {
    return nullptr;
  }
  return Py_BuildValue("{sKsKsKsIsIsIsIss}", "rows_per_epoch",
                       static_cast<unsigned long long>(info.rows_per_epoch), "records_per_epoch",
                       static_cast<unsigned long long>(info.records_per_epoch), "seed",
                       static_cast<unsigned long long>(info.seed), "epoch", info.epoch,
                       "batch_size", info.batch_size, "last", info.last, "field_count",
                       info.field_count, "fingerprint", info.fingerprint);
}

// _field(number): (name, name of the type, shape of one row, whether rows differ in length).
PyObject* field(PyObject* self, PyObject* number) {
  const unsigned long index = PyLong_AsUnsignedLong(number);
  if (PyErr_Occurred() != nullptr) return nullptr;
  echoline_field found{};
  found.size = sizeof(found);
  const auto get = [&](echoline_loader* handle) {
    return echoline_loader_get_field(handle, static_cast<std::uint32_t>(index), &found);
  };
  if (!call(self, get)) return nullptr;
  PyObject* shape = PyTuple_New(static_cast<Py_ssize_t>(found.rank));
  for (std::uint32_t axis = 0; shape != nullptr && axis < found.rank; ++axis) {
    PyObject* size = PyLong_FromUnsignedLongLong(found.shape[axis]);
    if (size == nullptr || PyTuple_SetItem(shape, axis, size) != 0) Py_CLEAR(shape);
  }
  return shape == nullptr ? nullptr
                          : Py_BuildValue("ssNN", found.name, echoline_dtype_name(found.dtype),
                                          shape, PyBool_FromLong(found.ragged != 0 ? 1 : 0));
}

PyMemberDef members[] = {
    {"_began", T_BOOL, offsetof(Object<Loader>, value.began), READONLY, nullptr},
    {"_batch_type", T_OBJECT_EX, offsetof(Object<Loader>, value.batch_type), 0, nullptr},
    {"_fields", T_OBJECT_EX, offsetof(Object<Loader>, value.fields), 0, nullptr},
    {}};

PyMethodDef methods[] = {{"_attach", attach, METH_VARARGS, nullptr},
                         {"_close", close, METH_NOARGS, nullptr},
                         {"next", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(next)),
                          METH_VARARGS | METH_KEYWORDS, kNextDoc},
                         {"_skip", skip, METH_O, nullptr},
                         {"_report", report, METH_VARARGS, nullptr},
                         {"_state", state, METH_NOARGS, nullptr},
                         {"_info", info, METH_NOARGS, nullptr},
                         {"_field", field, METH_O, nullptr},
                         {"__reduce__", refuse_pickle, METH_NOARGS, nullptr},
                         {}};

}  // namespace

PyObject* make_loader_type() {
  PyType_Slot slots[] = {slot(Py_tp_new, new_loader),
                         slot(Py_tp_dealloc, destroy<Loader>),
                         slot(Py_tp_iter, begin_epoch),
                         slot(Py_sq_length, length),
                         slot(Py_tp_members, members),
                         slot(Py_tp_methods, methods),
                         {}};
  PyType_Spec spec = {"echoline._echoline.Loader", sizeof(Object<Loader>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return PyType_FromSpec(&spec);
}

Handle handle_of(PyObject* loader) {
  Handle handle = value_of<Loader>(loader).handle;
  if (handle == nullptr) never_attached();
  return handle;
}

bool log_news(PyObject* loader, echoline_loader* handle) {
  char text[1024];
  while (echoline_take_news(handle, text, sizeof(text)) == ECHOLINE_OK) {
    PyObject* done = PyObject_CallMethod(loader, "_log_news", "s", text);
    if (done == nullptr) return false;
    Py_DECREF(done);
  }
  return true;
}

}  // namespace echoline::python
