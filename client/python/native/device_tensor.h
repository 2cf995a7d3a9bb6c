// Memory on a GPU, as DLPack and CUDA's array interface show it.
#pragma once

#include <cstdint>

#include "device_lease.h"
#include "object.h"

namespace echoline::python {

// Row-major.
struct DeviceTensor {
  SharedDeviceLease lease;
  std::uint64_t data = 0;
  std::uint32_t dtype = 0;  // echoline_dtype
  int device = 0;
  int rank = 0;
  std::int64_t shape[ECHOLINE_RANK_MAX + 1] = {};

  std::int64_t items() const;
};

// The class, new, to which make_device_tensor() belongs from then on; null with an exception.
PyObject* make_device_tensor_type();

// A new object; null with an exception.
PyObject* make_device_tensor(const DeviceTensor& tensor);

}  // namespace echoline::python
