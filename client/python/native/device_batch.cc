#include "device_batch.h"

#include <algorithm>

#include "cuda_stream.h"
#include "device_lease.h"
#include "device_tensor.h"
#include "errors.h"

namespace echoline::python {
namespace {

struct DeviceBatch {
  unsigned long long epoch = 0, step = 0, rows = 0, valid_rows = 0, fresh = 0, bucket_length = 0;
  char is_last = 0;
  int device = 0;
  PyObject* fields = nullptr;  // dict of the loader: name -> number
  SharedDeviceLease lease;

  DeviceBatch() = default;
  DeviceBatch(const DeviceBatch&) = delete;
  DeviceBatch& operator=(const DeviceBatch&) = delete;
  ~DeviceBatch() { Py_XDECREF(fields); }
};

// Null after release(); then an exception is set.
const echoline_cuda_batch* handle_of_batch(PyObject* self) {
  const echoline_cuda_batch* batch = value_of<DeviceBatch>(self).lease->batch();
  if (batch == nullptr) raise_status(ECHOLINE_FAILED_PRECONDITION, "the batch was released");
  return batch;
}

// _tensor(number): the field on the device; for a ragged field a tuple: the values, and the offsets
// in bytes at which rows begin and end.
PyObject* tensor(PyObject* self, PyObject* number) {
  const unsigned long index = PyLong_AsUnsignedLong(number);
  if (PyErr_Occurred() != nullptr) return nullptr;
  const echoline_cuda_batch* handle = handle_of_batch(self);
  if (handle == nullptr) return nullptr;
  echoline_cuda_tensor found{};
  found.size = sizeof(found);
  if (!check(echoline_cuda_batch_get_tensor(handle, static_cast<std::uint32_t>(index), &found))) {
    return nullptr;
  }
  const DeviceBatch& batch = value_of<DeviceBatch>(self);
  DeviceTensor made;
  made.lease = batch.lease;
  made.data = found.data;
  made.dtype = found.dtype;
  made.device = batch.device;
  made.rank = static_cast<int>(found.rank);
  std::copy_n(found.shape, found.rank, made.shape);
  if (found.offsets == 0) return make_device_tensor(made);
  DeviceTensor offsets = made;
  offsets.data = found.offsets;
  offsets.dtype = ECHOLINE_UINT64;
  offsets.rank = 1;
  offsets.shape[0] = static_cast<std::int64_t>(batch.rows) + 1;
  return Py_BuildValue("NN", make_device_tensor(made), make_device_tensor(offsets));
}

// _sample_ids(), _uses(), _flags(): a bytes object with one word for each row.
template <auto function>
PyObject* words(PyObject* self, PyObject*) {
  const echoline_cuda_batch* handle = handle_of_batch(self);
  if (handle == nullptr) return nullptr;
  const auto* data = function(handle);
  if (data == nullptr) {
    return raise_status(ECHOLINE_FORKED, "this batch belongs to the parent process");
  }
  return PyBytes_FromStringAndSize(
      reinterpret_cast<const char*>(data),
      static_cast<Py_ssize_t>(value_of<DeviceBatch>(self).rows * sizeof(*data)));
}

constexpr char kReleaseDoc[] =
    "release(stream=None)\n--\n\n"
    "Releases the batch after `stream` (None: the stream it was taken for) has finished the work "
    "that is queued on it now. Do not use its tensors in work that is queued later, on any stream.";

PyObject* release(PyObject* self, PyObject* arguments) {
  PyObject* number = Py_None;
  if (PyArg_ParseTuple(arguments, "|O:release", &number) == 0) return nullptr;
  DeviceLease& lease = *value_of<DeviceBatch>(self).lease;
  void* stream = lease.stream();
  if (number != Py_None && !read_stream(number, stream)) return nullptr;
  echoline_cuda_batch* batch = lease.take();
  without_gil([&] { return echoline_cuda_release(batch, stream), ECHOLINE_OK; });
  Py_RETURN_NONE;
}

constexpr char kWaitDoc[] =
    "wait(stream)\n--\n\n"
    "Makes another stream wait until the batch is ready. Before the last tensor is destroyed, make "
    "the stream that the batch was taken for wait for the work of the other stream.";

PyObject* wait(PyObject* self, PyObject* number) {
  void* stream = nullptr;
  const echoline_cuda_batch* handle = handle_of_batch(self);
  if (handle == nullptr || !read_stream(number, stream) ||
      !check(echoline_cuda_batch_wait(handle, stream))) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

#define ECHOLINE_MEMBER(name, type) \
  { #name, type, offsetof(Object <DeviceBatch>, value.name), READONLY, nullptr }

PyMemberDef members[] = {
    ECHOLINE_MEMBER(epoch, T_ULONGLONG),
    ECHOLINE_MEMBER(step, T_ULONGLONG),
    ECHOLINE_MEMBER(rows, T_ULONGLONG),
    ECHOLINE_MEMBER(valid_rows, T_ULONGLONG),
    ECHOLINE_MEMBER(fresh, T_ULONGLONG),
    ECHOLINE_MEMBER(bucket_length, T_ULONGLONG),
    ECHOLINE_MEMBER(is_last, T_BOOL),
    ECHOLINE_MEMBER(device, T_INT),
    {"_fields", T_OBJECT_EX, offsetof(Object<DeviceBatch>, value.fields), READONLY, nullptr},
    {}};

PyMethodDef methods[] = {
    {"_tensor", tensor, METH_O, nullptr},
    {"_sample_ids", words<echoline_cuda_batch_sample_ids>, METH_NOARGS, nullptr},
    {"_uses", words<echoline_cuda_batch_uses>, METH_NOARGS, nullptr},
    {"_flags", words<echoline_cuda_batch_row_flags>, METH_NOARGS, nullptr},
    {"release", release, METH_VARARGS, kReleaseDoc},
    {"wait", wait, METH_O, kWaitDoc},
    {"__reduce__", refuse_pickle, METH_NOARGS, nullptr},
    {}};

}  // namespace

PyObject* make_device_batch_type() {
  PyType_Slot slots[] = {slot(Py_tp_new, refuse_new),
                         slot(Py_tp_dealloc, destroy_with_lease<DeviceBatch>),
                         slot(Py_tp_members, members),
                         slot(Py_tp_methods, methods),
                         {}};
  PyType_Spec spec = {"echoline._echoline.DeviceBatch", sizeof(Object<DeviceBatch>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return PyType_FromSpec(&spec);
}

PyObject* wrap_device_batch(PyTypeObject* type, PyObject* fields, echoline_cuda_batch* batch,
                            void* stream) {
  PyObject* self = make<DeviceBatch>(type);
  if (self == nullptr) return echoline_cuda_release(batch, stream), nullptr;
  DeviceBatch& made = value_of<DeviceBatch>(self);
  try {
    made.lease = std::make_shared<DeviceLease>(batch, stream);
  } catch (const std::bad_alloc&) {
    echoline_cuda_release(batch, stream);
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  Py_INCREF(made.fields = fields);
  echoline_batch_info info{};
  info.size = sizeof(info);
  if (!check(echoline_cuda_batch_get_info(batch, &info))) {
    Py_DECREF(self);
    return nullptr;
  }
  made.epoch = info.epoch;
  made.step = info.step;
  made.rows = info.rows;
  made.valid_rows = info.valid_rows;
  made.fresh = info.fresh;
  made.bucket_length = info.bucket_length;
  made.is_last = (info.flags & ECHOLINE_BATCH_LAST) != 0 ? 1 : 0;
  made.device = echoline_cuda_batch_device(batch);
  return self;
}

}  // namespace echoline::python
