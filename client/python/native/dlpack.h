// Passes tensors to other libraries of this process without a copy: the structures of DLPack 1.0
// and of older versions (https://dmlc.github.io/dlpack), in the capsules of its Python protocol.
#pragma once

#include "device_tensor.h"

namespace echoline::python {

constexpr int kDlpackCuda = 2;  // kDLCUDA

// Creates a capsule that shares the tensor's lease until the consumer calls the deleter, or until
// the capsule is destroyed without a consumer. Null if an exception is set.
PyObject* make_dlpack(const DeviceTensor& tensor, bool versioned);

}  // namespace echoline::python
