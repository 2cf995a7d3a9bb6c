#include "batch.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "errors.h"

namespace echoline::python {
namespace {

struct Batch {
  unsigned long long epoch = 0, step = 0, rows = 0, valid_rows = 0, fresh = 0, bucket_length = 0;
  char is_last = 0;
  PyObject* fields = nullptr;       // dict of the loader: name -> (number, FieldSpec, function that
                                    // makes the value from its memory)
  PyObject* arrays = nullptr;       // dict of the values that were made; null before the first
  PyObject* weak = nullptr;         // weak references
  echoline_batch* batch = nullptr;  // null: a copy without a lease
  Lease lease;  // owns `batch` together with the views; null before the first view

  Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    Py_XDECREF(arrays);
    Py_XDECREF(fields);
    if (lease == nullptr) echoline_batch_release(batch);
  }
};

void free_batch(PyObject* self) {
  if (value_of<Batch>(self).weak != nullptr) PyObject_ClearWeakRefs(self);
  destroy<Batch>(self);
}

// Batch(epoch, step, rows, valid_rows, fresh, bucket_length, is_last, fields, arrays): a batch
// without a lease.
PyObject* new_copy(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  if (named != nullptr && PyDict_Size(named) != 0) {
    PyErr_SetString(PyExc_TypeError, "Batch takes no arguments by name");
    return nullptr;
  }
  PyObject* self = make<Batch>(type);
  if (self == nullptr) return nullptr;
  Batch& made = value_of<Batch>(self);
  int is_last = 0;
  PyObject *fields = nullptr, *arrays = nullptr;
  if (PyArg_ParseTuple(arguments, "KKKKKKpO!O!:Batch", &made.epoch, &made.step, &made.rows,
                       &made.valid_rows, &made.fresh, &made.bucket_length, &is_last, &PyDict_Type,
                       &fields, &PyDict_Type, &arrays) == 0) {
    Py_DECREF(self);
    return nullptr;
  }
  made.is_last = static_cast<char>(is_last);
  Py_INCREF(made.fields = fields);
  Py_INCREF(made.arrays = arrays);
  return self;
}

// The lease, for a view; null if an exception is set.
const Lease* share(Batch& batch) {
  if (batch.batch == nullptr) {
    raise_status(ECHOLINE_FAILED_PRECONDITION, "a copied batch has no shared memory");
    return nullptr;
  }
  try {
    if (batch.lease == nullptr) batch.lease = Lease(batch.batch, echoline_batch_release);
  } catch (const std::bad_alloc&) {
    batch.batch = nullptr;  // the constructor of Lease released it
    PyErr_NoMemory();
    return nullptr;
  }
  return &batch.lease;
}

Memory memory_of(const Lease& lease, const void* data, std::uint32_t dtype, std::uint64_t items) {
  Memory made;
  made.lease = lease;
  made.data = data;
  const char first = *echoline_dtype_name(dtype);
  made.kind = first == 'b' ? 'u' : first;  // numpy has no letter for bfloat16: show its bits
  made.item_bytes = static_cast<int>(echoline_dtype_bytes(dtype));
  made.rank = 1;
  made.shape[0] = static_cast<Py_ssize_t>(items);
  return made;
}

MemoryName name_of(const Batch& batch, const char* field) {
  return {batch.epoch, batch.step, field};
}

// The memory of a field; for a ragged field a tuple: memory of the values and of the offsets.
PyObject* tensor(PyObject* self, PyObject* number, const char* field) {
  const unsigned long index = PyLong_AsUnsignedLong(number);
  if (PyErr_Occurred() != nullptr) return nullptr;
  Batch& batch = value_of<Batch>(self);
  const MemoryName name = name_of(batch, field);
  const Lease* lease = share(batch);
  echoline_tensor found{};
  found.size = sizeof(found);
  if (lease == nullptr ||
      !check(echoline_batch_get_tensor(batch.batch, static_cast<std::uint32_t>(index), &found))) {
    return nullptr;
  }
  const std::size_t item = echoline_dtype_bytes(found.dtype);
  if (found.offsets == nullptr) {
    Memory made = memory_of(*lease, found.data, found.dtype, batch.rows);
    made.rank = static_cast<int>(found.rank);
    std::copy_n(found.shape, found.rank, made.shape);
    return make_memory(std::move(made), name);
  }
  const void* values = static_cast<const char*>(found.data) + found.offsets[0];
  std::uint64_t inner_bytes = item;
  for (std::uint32_t axis = 1; axis < found.rank; ++axis) inner_bytes *= found.shape[axis];
  Memory made = memory_of(*lease, values, found.dtype, found.bytes / inner_bytes);
  made.rank = static_cast<int>(found.rank);
  std::copy(found.shape + 1, found.shape + found.rank, made.shape + 1);
  return Py_BuildValue(
      "NN", make_memory(std::move(made), name),
      make_memory(memory_of(*lease, found.offsets, ECHOLINE_UINT64, batch.rows + 1), name));
}

// _sample_ids(), _uses(), _flags(): memory with one word for each row.
template <auto function, std::uint32_t dtype, const char* name>
PyObject* words(PyObject* self, PyObject*) {
  Batch& batch = value_of<Batch>(self);
  const Lease* lease = share(batch);
  if (lease == nullptr) return nullptr;
  const void* data = function(batch.batch);
  if (data == nullptr) {
    return raise_status(ECHOLINE_FORKED, "this batch belongs to the parent process");
  }
  return make_memory(memory_of(*lease, data, dtype, batch.rows), name_of(batch, name));
}
constexpr char kSampleIds[] = "sample_ids", kUses[] = "uses", kFlags[] = "flags";

// A borrowed reference; null if an exception is set.
PyObject* arrays_of(Batch& batch) {
  if (batch.arrays == nullptr) batch.arrays = PyDict_New();
  return batch.arrays;
}

PyObject* raise_no_field(PyObject* fields, PyObject* name) {
  PyObject* comma = PyUnicode_FromString(", ");
  PyObject* known = comma == nullptr ? nullptr : PyUnicode_Join(comma, fields);
  if (known != nullptr) PyErr_Format(PyExc_KeyError, "no field %R; there are: %S", name, known);
  Py_XDECREF(known);
  Py_XDECREF(comma);
  return nullptr;
}

// Calls the field's function on its memory.
PyObject* make_value(PyObject* self, PyObject* name) {
  PyObject* fields = value_of<Batch>(self).fields;
  PyObject* field = PyDict_GetItemWithError(fields, name);
  if (field == nullptr) return PyErr_Occurred() ? nullptr : raise_no_field(fields, name);
  PyObject* bytes = faults_are_explained() ? PyUnicode_AsUTF8String(name) : nullptr;
  if (PyErr_Occurred() != nullptr) return nullptr;
  PyObject* memory =
      tensor(self, PyTuple_GetItem(field, 0), bytes == nullptr ? "" : PyBytes_AsString(bytes));
  Py_XDECREF(bytes);
  if (memory == nullptr) return nullptr;
  PyObject* value = PyObject_CallFunctionObjArgs(PyTuple_GetItem(field, 2), memory, nullptr);
  Py_DECREF(memory);
  return value;
}

// batch[name]: the value is made at its first use.
PyObject* subscript(PyObject* self, PyObject* name) {
  PyObject* arrays = arrays_of(value_of<Batch>(self));
  if (arrays == nullptr) return nullptr;
  PyObject* found = PyDict_GetItemWithError(arrays, name);
  if (found != nullptr) {
    Py_INCREF(found);
  } else if (PyErr_Occurred() == nullptr) {
    found = make_value(self, name);
    if (found != nullptr && PyDict_SetItem(arrays, name, found) != 0) Py_CLEAR(found);
  }
  return found;
}

PyObject* get_arrays(PyObject* self, void*) {
  PyObject* arrays = arrays_of(value_of<Batch>(self));
  Py_XINCREF(arrays);
  return arrays;
}

PyObject* has_lease(PyObject* self, void*) {
  return PyBool_FromLong(value_of<Batch>(self).batch != nullptr ? 1 : 0);
}

#define ECHOLINE_MEMBER(name, type) \
  { #name, type, offsetof(Object <Batch>, value.name), READONLY, nullptr }

PyMemberDef members[] = {
    ECHOLINE_MEMBER(epoch, T_ULONGLONG),
    ECHOLINE_MEMBER(step, T_ULONGLONG),
    ECHOLINE_MEMBER(rows, T_ULONGLONG),
    ECHOLINE_MEMBER(valid_rows, T_ULONGLONG),
    ECHOLINE_MEMBER(fresh, T_ULONGLONG),
    ECHOLINE_MEMBER(bucket_length, T_ULONGLONG),
    ECHOLINE_MEMBER(is_last, T_BOOL),
    {"_fields", T_OBJECT_EX, offsetof(Object<Batch>, value.fields), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Object<Batch>, value.weak), READONLY, nullptr},
    {}};

PyMethodDef methods[] = {
    {"_sample_ids", words<echoline_batch_sample_ids, ECHOLINE_UINT64, kSampleIds>, METH_NOARGS,
     nullptr},
    {"_uses", words<echoline_batch_uses, ECHOLINE_UINT32, kUses>, METH_NOARGS, nullptr},
    {"_flags", words<echoline_batch_row_flags, ECHOLINE_UINT32, kFlags>, METH_NOARGS, nullptr},
    {}};

PyGetSetDef properties[] = {{"_arrays", get_arrays, nullptr, nullptr, nullptr},
                            {"_has_lease", has_lease, nullptr, nullptr, nullptr},
                            {}};

}  // namespace

PyObject* make_batch_type() {
  PyType_Slot slots[] = {slot(Py_tp_new, new_copy),
                         slot(Py_tp_dealloc, free_batch),
                         slot(Py_mp_subscript, subscript),
                         slot(Py_tp_members, members),
                         slot(Py_tp_methods, methods),
                         slot(Py_tp_getset, properties),
                         {}};
  PyType_Spec spec = {"echoline._echoline.Batch", sizeof(Object<Batch>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return PyType_FromSpec(&spec);
}

PyObject* wrap_batch(PyTypeObject* type, PyObject* fields, echoline_batch* batch) {
  PyObject* self = make<Batch>(type);
  if (self == nullptr) return echoline_batch_release(batch), nullptr;
  Batch& made = value_of<Batch>(self);
  made.batch = batch;
  Py_INCREF(made.fields = fields);
  echoline_batch_info info{};
  info.size = sizeof(info);
  if (!check(echoline_batch_get_info(batch, &info))) {
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
  return self;
}

}  // namespace echoline::python
