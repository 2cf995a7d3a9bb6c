#include "dlpack.h"

#include <algorithm>
#include <iterator>

namespace echoline::python {
namespace {

struct Device {
  std::int32_t type;
  std::int32_t ordinal;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
enum Code : std::uint8_t { kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4 };
struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements
  std::uint64_t byte_offset;
};
struct Managed {
  Tensor tensor;
  void* owner;
  void (*deleter)(Managed*);
};
struct ManagedVersioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* owner;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

// What the consumer owns: the structure and everything it points to.
template <typename T>
struct Held {
  T managed{};
  DeviceTensor source;
  std::int64_t strides[ECHOLINE_RANK_MAX + 1] = {};
};

// The consumer calls it, in any thread, with or without the GIL.
template <typename T>
void free_held(T* managed) {
  delete static_cast<Held<T>*>(managed->owner);
}

template <typename T>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<Managed> = "dltensor";
template <>
constexpr const char* kName<ManagedVersioned> = "dltensor_versioned";

// A consumer renames the capsule: then the deleter frees the tensor, not the capsule.
template <typename T>
void free_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName<T>) == 0) return;
  free_held(static_cast<T*>(PyCapsule_GetPointer(capsule, kName<T>)));
}

DataType type_of(std::uint32_t dtype) {
  const char first = *echoline_dtype_name(dtype);
  const Code code = first == 'b' ? kBfloat : first == 'f' ? kFloat : first == 'u' ? kUint : kInt;
  return {code, static_cast<std::uint8_t>(8 * echoline_dtype_bytes(dtype)), 1};
}

template <typename T>
PyObject* make_capsule(const DeviceTensor& source) {
  auto* held = new (std::nothrow) Held<T>;
  if (held == nullptr) return PyErr_NoMemory();
  held->source = source;
  std::int64_t step = 1;
  for (int axis = source.rank; axis-- > 0; step *= source.shape[axis]) held->strides[axis] = step;
  // DLPack asks for a null pointer if the tensor has no elements.
  void* data = source.items() == 0 ? nullptr : reinterpret_cast<void*>(source.data);
  held->managed.tensor = {data,
                          {kDlpackCuda, source.device},
                          source.rank,
                          type_of(source.dtype),
                          held->source.shape,
                          held->strides,
                          0};
  held->managed.owner = held;
  held->managed.deleter = free_held<T>;
  if constexpr (requires(T managed) { managed.major; }) held->managed.major = 1;
  PyObject* capsule = PyCapsule_New(&held->managed, kName<T>, free_capsule<T>);
  if (capsule == nullptr) delete held;
  return capsule;
}

}  // namespace

PyObject* make_dlpack(const DeviceTensor& tensor, bool versioned) {
  return versioned ? make_capsule<ManagedVersioned>(tensor) : make_capsule<Managed>(tensor);
}

}  // namespace echoline::python
