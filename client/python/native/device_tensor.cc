#include "device_tensor.h"

#include <functional>
#include <numeric>

#include "cuda_stream.h"
#include "dlpack.h"
#include "errors.h"

namespace echoline::python {
namespace {

PyTypeObject* tensor_type = nullptr;

// False if the batch was released; then an exception is set.
bool check_held(const DeviceTensor& tensor) {
  if (tensor.lease->batch() != nullptr) return true;
  raise_status(ECHOLINE_FAILED_PRECONDITION, "the batch of this tensor was released");
  return false;
}

PyObject* shape(PyObject* self, void*) {
  const DeviceTensor& tensor = value_of<DeviceTensor>(self);
  PyObject* made = PyTuple_New(tensor.rank);
  for (int axis = 0; made != nullptr && axis < tensor.rank; ++axis) {
    PyObject* size = PyLong_FromLongLong(tensor.shape[axis]);
    if (size == nullptr || PyTuple_SetItem(made, axis, size) != 0) Py_CLEAR(made);
  }
  return made;
}

PyObject* dtype(PyObject* self, void*) {
  return PyUnicode_FromString(echoline_dtype_name(value_of<DeviceTensor>(self).dtype));
}

PyObject* device(PyObject* self, void*) {
  return PyLong_FromLong(value_of<DeviceTensor>(self).device);
}

PyObject* pointer(PyObject* self, void*) {
  const DeviceTensor& tensor = value_of<DeviceTensor>(self);
  return check_held(tensor) ? PyLong_FromUnsignedLongLong(tensor.data) : nullptr;
}

// Version 3 of the protocol. It has no letter for bfloat16, so such a tensor lacks the attribute.
PyObject* array_interface(PyObject* self, void*) {
  const DeviceTensor& tensor = value_of<DeviceTensor>(self);
  if (tensor.dtype == ECHOLINE_BFLOAT16) {
    PyErr_SetString(PyExc_AttributeError, "the array interface knows no bfloat16; take __dlpack__");
    return nullptr;
  }
  if (!check_held(tensor)) return nullptr;
  const std::size_t bytes = echoline_dtype_bytes(tensor.dtype);
  const auto stream = reinterpret_cast<std::uintptr_t>(tensor.lease->stream());
  PyObject* typestr = PyUnicode_FromFormat("%c%c%zu", bytes == 1 ? '|' : '<',
                                           *echoline_dtype_name(tensor.dtype), bytes);
  PyObject* sizes = shape(self, nullptr);
  if (typestr == nullptr || sizes == nullptr) {
    Py_XDECREF(typestr);
    Py_XDECREF(sizes);
    return nullptr;
  }
  const unsigned long long data = tensor.items() == 0 ? 0 : tensor.data;
  return Py_BuildValue("{sNsNs(KO)sisOsK}", "shape", sizes, "typestr", typestr, "data", data,
                       Py_False, "version", 3, "strides", Py_None, "stream",
                       static_cast<unsigned long long>(stream == 0 ? 1 : stream));
}

PyObject* dlpack_device(PyObject* self, PyObject*) {
  return Py_BuildValue("ii", kDlpackCuda, value_of<DeviceTensor>(self).device);
}

PyObject* raise_buffer_error(const char* text) {
  PyErr_SetString(PyExc_BufferError, text);
  return nullptr;
}

// 1 if the consumer reads structures of DLPack 1, else 0; -1 if an exception is set.
int reads_versioned(PyObject* max_version) {
  if (max_version == Py_None) return 0;
  int major = 0, minor = 0;
  if (PyTuple_Check(max_version) == 0) {
    PyErr_SetString(PyExc_TypeError, "max_version is a tuple of two numbers");
    return -1;
  }
  if (PyArg_ParseTuple(max_version, "ii:max_version", &major, &minor) == 0) return -1;
  return major >= 1 ? 1 : 0;
}

// Makes the consumer's stream wait if it is not the stream of the batch. Stream -1: the consumer
// synchronises by its own means. Needs the GIL, because release() in another thread ends the batch.
bool make_stream_wait(const DeviceTensor& tensor, PyObject* number) {
  if (number != Py_None && PyLong_Check(number) != 0 && PyLong_AsLongLong(number) == -1) {
    return PyErr_Occurred() == nullptr;
  }
  void* stream = nullptr;
  if (!read_stream(number, stream)) return false;
  if (stream == tensor.lease->stream()) return true;
  return check(echoline_cuda_batch_wait(tensor.lease->batch(), stream));
}

// __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
PyObject* dlpack(PyObject* self, PyObject* arguments, PyObject* named) {
  static const char* const names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *max_version = Py_None, *dl_device = Py_None, *copy = Py_None;
  if (PyArg_ParseTupleAndKeywords(arguments, named, "|$OOOO:__dlpack__", const_cast<char**>(names),
                                  &stream, &max_version, &dl_device, &copy) == 0) {
    return nullptr;
  }
  const DeviceTensor& tensor = value_of<DeviceTensor>(self);
  if (dl_device != Py_None) {
    PyObject* own = dlpack_device(self, nullptr);
    const int same = own == nullptr ? -1 : PyObject_RichCompareBool(own, dl_device, Py_EQ);
    Py_XDECREF(own);
    if (same < 0) return nullptr;
    if (same == 0) return raise_buffer_error("the tensor is on another device");
  }
  const int wants_copy = copy == Py_None ? 0 : PyObject_IsTrue(copy);
  if (wants_copy < 0) return nullptr;
  if (wants_copy > 0) return raise_buffer_error("copies are not made here; ask for a view");
  const int versioned = reads_versioned(max_version);
  if (versioned < 0 || !check_held(tensor) || !make_stream_wait(tensor, stream)) return nullptr;
  return make_dlpack(tensor, versioned > 0);
}

// _bytes(): a capsule of the memory as uint8, which all versions of torch can read, for the stream
// of the batch.
PyObject* bytes(PyObject* self, PyObject*) {
  DeviceTensor flat = value_of<DeviceTensor>(self);
  if (!check_held(flat)) return nullptr;
  flat.shape[0] = flat.items() * static_cast<std::int64_t>(echoline_dtype_bytes(flat.dtype));
  flat.rank = 1;
  flat.dtype = ECHOLINE_UINT8;
  return make_dlpack(flat, false);
}

PyGetSetDef properties[] = {
    {"shape", shape, nullptr, nullptr, nullptr},
    {"dtype", dtype, nullptr, nullptr, nullptr},
    {"device", device, nullptr, nullptr, nullptr},
    {"pointer", pointer, nullptr, nullptr, nullptr},
    {"__cuda_array_interface__", array_interface, nullptr, nullptr, nullptr},
    {}};

PyMethodDef methods[] = {
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dlpack)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, nullptr},
    {"_bytes", bytes, METH_NOARGS, nullptr},
    {"__reduce__", refuse_pickle, METH_NOARGS, nullptr},
    {}};

}  // namespace

std::int64_t DeviceTensor::items() const {
  return std::accumulate(shape, shape + rank, std::int64_t{1}, std::multiplies<>());
}

PyObject* make_device_tensor_type() {
  PyType_Slot slots[] = {slot(Py_tp_new, refuse_new),
                         slot(Py_tp_dealloc, destroy_with_lease<DeviceTensor>),
                         slot(Py_tp_getset, properties),
                         slot(Py_tp_methods, methods),
                         {}};
  PyType_Spec spec = {"echoline._echoline.DeviceTensor", sizeof(Object<DeviceTensor>), 0,
                      Py_TPFLAGS_DEFAULT, slots};
  PyObject* made = PyType_FromSpec(&spec);
  tensor_type = reinterpret_cast<PyTypeObject*>(made);
  Py_XINCREF(made);
  return made;
}

PyObject* make_device_tensor(const DeviceTensor& tensor) {
  PyObject* made = make<DeviceTensor>(tensor_type);
  if (made != nullptr) value_of<DeviceTensor>(made) = tensor;
  return made;
}

}  // namespace echoline::python
