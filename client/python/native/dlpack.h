// Tensors for other libraries of this process, without a copy: the structures of DLPack 1.0 and of
// those before it (https://dmlc.github.io/dlpack), in capsules by the names of its Python protocol.
#pragma once

#include "device_tensor.h"

namespace echoline::python {

constexpr int kDlpackCuda = 2;  // kDLCUDA

// A capsule that owns a share of the tensor's lease until its consumer calls the deleter, or, if
// nobody consumed it, to its end. Null with an exception.
PyObject* make_dlpack(const DeviceTensor& tensor, bool versioned);

}  // namespace echoline::python
