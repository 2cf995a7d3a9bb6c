"""A library that consumes tensors through DLPack."""
import ctypes


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class DlManaged(ctypes.Structure):
    _fields_ = [("tensor", DlTensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DlVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DlTensor)]


NAMES = {b"dltensor": DlManaged, b"dltensor_versioned": DlVersioned}
api = ctypes.pythonapi
api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


def managed_of(capsule):
    name = api.PyCapsule_GetName(capsule)
    return NAMES[name].from_address(api.PyCapsule_GetPointer(capsule, name))


def tensor_of(capsule):
    return managed_of(capsule).tensor


USED = b"used_dltensor"  # must exist as long as capsules with this name


def consume(capsule):
    """Consumes a capsule as a library does: renames it and owns the structure. Call the result to delete it without the GIL."""
    managed = managed_of(capsule)
    api.PyCapsule_SetName(capsule, USED)
    return lambda: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
