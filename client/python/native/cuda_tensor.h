// Memory on a GPU, as DLPack and CUDA's array interface show it.
#pragma once

#include <cstdint>

#include "cuda_lease.h"
#include "object.h"

namespace echoline::python {

// Row-major.
struct CudaTensor {
  SharedCudaLease lease;
  std::uint64_t data = 0;
  std::uint32_t dtype = 0;  // echoline_dtype
  int device = 0;
  int rank = 0;
  std::int64_t shape[ECHOLINE_RANK_MAX + 1] = {};

  std::int64_t items() const;
};

// The class, new, to which make_cuda_tensor() belongs from then on; null with an exception.
PyObject* make_cuda_tensor_type();

// A new object; null with an exception.
PyObject* make_cuda_tensor(const CudaTensor& tensor);

}  // namespace echoline::python
