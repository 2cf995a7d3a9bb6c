#include "memory.h"

#include <utility>

#include "errors.h"

namespace echoline::python {
namespace {

// numpy's PyArrayInterface, version 2 of the protocol. `strides` must point to memory that is valid
// until the array is created, so the structure has an additional array for them.
struct ArrayInterface {
  int two = 2;
  int rank = 0;
  char kind = 0;
  int item_bytes = 0;
  int flags = 0;
  Py_ssize_t* shape = nullptr;
  Py_ssize_t* strides = nullptr;
  void* data = nullptr;
  PyObject* descr = nullptr;
  Py_ssize_t steps[ECHOLINE_RANK_MAX] = {};
};
constexpr int kContiguous = 0x1;
constexpr int kAligned = 0x100;
constexpr int kNotSwapped = 0x200;

PyTypeObject* memory_type = nullptr;

void free_interface(PyObject* capsule) {
  delete static_cast<ArrayInterface*>(PyCapsule_GetPointer(capsule, nullptr));
}

PyObject* array_struct(PyObject* self, void*) {
  Memory& memory = value_of<Memory>(self);
  auto* made = new (std::nothrow) ArrayInterface;
  if (made == nullptr) return PyErr_NoMemory();
  made->rank = memory.rank;
  made->kind = memory.kind;
  made->item_bytes = memory.item_bytes;
  made->flags = kContiguous | kAligned | kNotSwapped;
  made->shape = memory.shape;
  made->strides = made->steps;
  made->data = const_cast<void*>(memory.data);
  Py_ssize_t step = memory.item_bytes;
  for (int axis = memory.rank; axis-- > 0; step *= memory.shape[axis]) made->steps[axis] = step;
  PyObject* capsule = PyCapsule_New(made, nullptr, free_interface);
  if (capsule == nullptr) delete made;
  return capsule;
}

}  // namespace

bool make_memory_type() {
  static PyGetSetDef properties[] = {{"__array_struct__", array_struct, nullptr, nullptr, nullptr},
                                     {}};
  PyType_Slot slots[] = {slot(Py_tp_new, refuse_new),
                         slot(Py_tp_dealloc, destroy<Memory>),
                         slot(Py_tp_getset, properties),
                         {}};
  PyType_Spec spec = {"echoline._echoline.Memory", sizeof(Object<Memory>), 0, Py_TPFLAGS_DEFAULT,
                      slots};
  memory_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return memory_type != nullptr;
}

PyObject* make_memory(Memory memory, const MemoryName& name) {
  if (faults_are_explained()) {
    auto bytes = static_cast<std::size_t>(memory.item_bytes);
    for (int axis = 0; axis < memory.rank; ++axis)
      bytes *= static_cast<std::size_t>(memory.shape[axis]);
    memory.watched = WatchedMemory(memory.data, bytes, name);
  }
  PyObject* made = make<Memory>(memory_type);
  if (made != nullptr) value_of<Memory>(made) = std::move(memory);
  return made;
}

}  // namespace echoline::python
