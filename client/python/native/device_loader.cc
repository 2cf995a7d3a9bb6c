#include "device_loader.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda_stream.h"
#include "device_batch.h"
#include "echoline/echoline_cuda.h"
#include "errors.h"
#include "loader.h"
#include "waiting.h"

namespace echoline::python {
namespace {

using DeviceHandle = std::shared_ptr<echoline_cuda>;

struct DeviceLoader {
  DeviceHandle handle;             // every running call keeps a copy; empty: closed
  PyObject* loader = nullptr;      // the echoline.Loader that it copies from
  PyObject* batch_type = nullptr;  // echoline.cuda.Batch
  PyObject* fields = nullptr;      // passed to every batch

  DeviceLoader() = default;
  DeviceLoader(const DeviceLoader&) = delete;
  DeviceLoader& operator=(const DeviceLoader&) = delete;
  ~DeviceLoader() {
    Py_XDECREF(fields);
    Py_XDECREF(batch_type);
    Py_XDECREF(loader);
  }
};

// Closes the device without the GIL, and then drops its reference to the loader.
struct Close {
  Handle loader;
  void operator()(echoline_cuda* cuda) const {
    without_gil([&] { return echoline_cuda_close(cuda), ECHOLINE_OK; });
  }
};

PyObject* raise_closed() { return raise_status(ECHOLINE_CANCELLED, "the loader was closed"); }

DeviceHandle handle_of_device(PyObject* self) {
  DeviceHandle handle = value_of<DeviceLoader>(self).handle;
  if (handle == nullptr) raise_closed();
  return handle;
}

// Converts a tuple of floats, one for each channel. False if an exception is set.
bool read_channels(PyObject* values, float* channels) {
  const Py_ssize_t count = PyTuple_Size(values);
  if (PyErr_Occurred() != nullptr) return false;
  for (Py_ssize_t i = 0; i < std::min<Py_ssize_t>(count, ECHOLINE_CUDA_CHANNELS_MAX); ++i) {
    channels[i] = static_cast<float>(PyFloat_AsDouble(PyTuple_GetItem(values, i)));
  }
  return PyErr_Occurred() == nullptr;
}

// Converts (name, dtype, layout, flip, padded, fill, means, deviations). False if an exception is
// set.
bool read_field_options(PyObject* option, echoline_cuda_field& field) {
  echoline_cuda_field_init(&field, sizeof(field));
  int flip = 0, padded = 0;
  PyObject *means = nullptr, *deviations = nullptr;
  if (PyArg_ParseTuple(option, "sIIppdO!O!:field_options", &field.name, &field.dtype, &field.layout,
                       &flip, &padded, &field.fill, &PyTuple_Type, &means, &PyTuple_Type,
                       &deviations) == 0) {
    return false;
  }
  field.flip = flip != 0 ? 1 : 0;
  field.padded = padded != 0 ? 1 : 0;
  return read_channels(means, field.mean) && read_channels(deviations, field.std);
}

// DeviceLoader(loader, batch_type, fields, device, depth, factor, window, field_options)
PyObject* new_device_loader(PyTypeObject* type, PyObject* arguments, PyObject*) {
  echoline_cuda_options options;
  echoline_cuda_options_init(&options, sizeof(options));
  PyObject *loader = nullptr, *batch_type = nullptr, *fields = nullptr, *field_options = nullptr;
  if (PyArg_ParseTuple(arguments, "OOO!iIIIO!:DeviceLoader", &loader, &batch_type, &PyDict_Type,
                       &fields, &options.device, &options.depth, &options.echo_factor,
                       &options.echo_window, &PyList_Type, &field_options) == 0) {
    return nullptr;
  }
  const Handle attached = handle_of(loader);
  if (attached == nullptr) return nullptr;
  PyObject* self = make<DeviceLoader>(type);
  if (self == nullptr) return nullptr;
  DeviceLoader& made = value_of<DeviceLoader>(self);
  Py_INCREF(made.loader = loader);
  Py_INCREF(made.batch_type = batch_type);
  Py_INCREF(made.fields = fields);
  try {
    std::vector<echoline_cuda_field> wanted(static_cast<std::size_t>(PyList_Size(field_options)));
    bool read = true;
    for (std::size_t i = 0; read && i < wanted.size(); ++i) {
      read =
          read_field_options(PyList_GetItem(field_options, static_cast<Py_ssize_t>(i)), wanted[i]);
    }
    options.fields = wanted.data();
    options.field_count = static_cast<std::uint32_t>(wanted.size());
    echoline_cuda* opened = nullptr;
    const auto open = [&] { return echoline_cuda_open(attached.get(), &options, &opened); };
    if (read && check(without_gil(open))) {
      made.handle = DeviceHandle(opened, Close{attached});
      return self;
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  Py_DECREF(self);
  return nullptr;
}

// Drops the GIL from the first call on, unlike the loader on the CPU: the driver may wait for the
// device, and the device for another Python thread.
int take(PyObject* self, const DeviceHandle& handle, void* stream, std::int64_t timeout_ms,
         echoline_cuda_batch** batch) {
  const DeviceLoader& loader = value_of<DeviceLoader>(self);
  const Handle attached = handle_of(loader.loader);
  return wait_in_slices(
      timeout_ms,
      [&](std::int64_t slice) { return echoline_cuda_next(handle.get(), stream, slice, batch); },
      [&] {
        if (loader.handle != handle) raise_closed();
        return loader.handle == handle && log_news(loader.loader, attached.get());
      });
}

// next(stream, timeout): the next batch, or None at the end of an epoch; raises TimeoutError.
PyObject* next(PyObject* self, PyObject* arguments) {
  PyObject *number = nullptr, *timeout = nullptr;
  void* stream = nullptr;
  std::int64_t timeout_ms = -1;
  if (PyArg_ParseTuple(arguments, "OO:next", &number, &timeout) == 0 ||
      !read_stream(number, stream) || !read_timeout(timeout, timeout_ms)) {
    return nullptr;
  }
  const DeviceHandle handle = handle_of_device(self);
  if (handle == nullptr) return nullptr;
  DeviceLoader& loader = value_of<DeviceLoader>(self);
  echoline_cuda_batch* batch = nullptr;
  const int status = take(self, handle, stream, timeout_ms, &batch);
  switch (status) {
    case ECHOLINE_OK:
      return wrap_device_batch(reinterpret_cast<PyTypeObject*>(loader.batch_type), loader.fields,
                               batch, stream);
    case ECHOLINE_END_OF_EPOCH: {
      const Handle attached = handle_of(loader.loader);
      if (!log_news(loader.loader, attached.get())) return nullptr;
      Py_RETURN_NONE;
    }
    case ECHOLINE_TIMEOUT:
      raise_timeout(loader.loader, timeout);
      return nullptr;
    case kRaised:
      return nullptr;
    default:
      return raise_status(status);
  }
}

PyObject* begin_epoch(PyObject* self, PyObject*) {
  const DeviceHandle handle = handle_of_device(self);
  if (handle == nullptr ||
      !check(without_gil([&] { return echoline_cuda_begin_epoch(handle.get()); }))) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* state(PyObject* self, PyObject*) {
  const DeviceHandle handle = handle_of_device(self);
  if (handle == nullptr) return nullptr;
  char text[8192];
  size_t size = 0;
  const auto write = [&] { return echoline_cuda_state(handle.get(), text, sizeof(text), &size); };
  if (!check(without_gil(write))) return nullptr;
  return PyUnicode_FromStringAndSize(text, static_cast<Py_ssize_t>(size));
}

PyObject* stats(PyObject* self, PyObject*) {
  const DeviceHandle handle = handle_of_device(self);
  if (handle == nullptr) return nullptr;
  echoline_cuda_stats s{};
  s.size = sizeof(s);
  if (!check(without_gil([&] { return echoline_cuda_get_stats(handle.get(), &s); }))) {
    return nullptr;
  }
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  return Py_BuildValue("{sKsKsKsKsKsKsKsKsI}", "copied_bytes", number(s.copied_bytes), "copy_ns",
                       number(s.copy_ns), "wait_ns", number(s.wait_ns), "span_ns",
                       number(s.span_ns), "batches", number(s.batches), "uses", number(s.uses),
                       "device_bytes", number(s.device_bytes), "pinned_bytes",
                       number(s.pinned_bytes), "path", s.path);
}

// A thread that waits in next() notices this within kSliceMs; it is then the last owner.
PyObject* close(PyObject* self, PyObject*) {
  value_of<DeviceLoader>(self).handle.reset();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"next", next, METH_VARARGS, nullptr},
                         {"begin_epoch", begin_epoch, METH_NOARGS, nullptr},
                         {"state", state, METH_NOARGS, nullptr},
                         {"stats", stats, METH_NOARGS, nullptr},
                         {"close", close, METH_NOARGS, nullptr},
                         {"__reduce__", refuse_pickle, METH_NOARGS, nullptr},
                         {}};

}  // namespace

PyObject* make_device_loader_type() {
  PyType_Slot slots[] = {slot(Py_tp_new, new_device_loader),
                         slot(Py_tp_dealloc, destroy<DeviceLoader>),
                         slot(Py_tp_methods, methods),
                         {}};
  PyType_Spec spec = {"echoline._echoline.DeviceLoader", sizeof(Object<DeviceLoader>), 0,
                      Py_TPFLAGS_DEFAULT, slots};
  return PyType_FromSpec(&spec);
}

}  // namespace echoline::python
