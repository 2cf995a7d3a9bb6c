// A tensor on a GPU, for DLPack and CUDA's array interface.
#pragma once

#include <cstdint>

#include "device_lease.h"
#include "object.h"

namespace echoline::python {

// A row-major view of a part of a batch.
struct DeviceTensor {
  SharedDeviceLease lease;
  std::uint64_t data = 0;
  std::uint32_t dtype = 0;  // echoline_dtype
  int device = 0;
  int rank = 0;
  std::int64_t shape[ECHOLINE_RANK_MAX + 1] = {};

  std::int64_t items() const;
};

// Creates the class, of which make_device_tensor() then creates objects; null if an exception is
// set.
PyObject* make_device_tensor_type();

// Creates an object; null if an exception is set.
PyObject* make_device_tensor(const DeviceTensor& tensor);

}  // namespace echoline::python
