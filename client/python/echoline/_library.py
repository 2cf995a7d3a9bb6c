"""The C ABI (echoline.h) by ctypes: structures, functions, and finding the library."""
from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from ._errors import error_of

OK, END_OF_EPOCH, TIMEOUT = 0, 100, 101
VARIABLE = 1
BATCH_LAST = 1
ROW_PADDED = 1
RANK_MAX = 8


class AttachOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("stream", c_char_p), ("job", c_char_p), ("runtime_dir", c_char_p),
                ("state", c_char_p), ("expect", c_char_p), ("rank", c_uint32), ("world_size", c_uint32),
                ("batch_size", c_uint32), ("join", c_uint32), ("attach_ms", c_int64), ("reattach_ms", c_int64),
                ("flags", c_uint32), ("reserved", c_uint32)]


class LoaderInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("rows_per_epoch", c_uint64), ("records_per_epoch", c_uint64),
                ("steps_per_epoch", c_uint64), ("row", c_uint64), ("seed", c_uint64), ("epoch", c_uint32),
                ("batch_size", c_uint32), ("rank", c_uint32), ("world_size", c_uint32),
                ("stream_batch_size", c_uint32), ("last", c_uint32), ("field_count", c_uint32), ("flags", c_uint32),
                ("factor", c_uint32), ("plan_version", c_uint32), ("fingerprint", c_char * 33)]


class Field(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("dtype", c_uint32), ("ragged", c_uint32),
                ("rank", c_uint32), ("reserved", c_uint32), ("shape", c_uint64 * RANK_MAX), ("row_bytes", c_uint64),
                ("arena", c_void_p), ("arena_bytes", c_uint64)]


class BatchInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("step", c_uint64), ("row", c_uint64), ("epoch", c_uint32), ("rows", c_uint32),
                ("valid_rows", c_uint32), ("fresh", c_uint32), ("flags", c_uint32), ("reserved", c_uint32)]


class Tensor(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("data", c_void_p), ("offsets", c_void_p), ("name", c_char_p),
                ("dtype", c_uint32), ("rank", c_uint32), ("shape", c_uint64 * RANK_MAX), ("row_bytes", c_uint64),
                ("bytes", c_uint64)]


_FUNCTIONS = {
    "echoline_version": (c_char_p, []),
    "echoline_layout_version": (None, [POINTER(c_uint32), POINTER(c_uint32)]),
    "echoline_status_text": (c_char_p, [c_int]),
    "echoline_last_error": (c_char_p, []),
    "echoline_dtype_name": (c_char_p, [c_uint32]),
    "echoline_runtime_dir": (c_size_t, [c_char_p, c_size_t]),
    "echoline_attach_options_init": (None, [POINTER(AttachOptions), c_size_t]),
    "echoline_attach": (c_int, [POINTER(AttachOptions), POINTER(c_void_p)]),
    "echoline_attach_wait": (c_int, [c_void_p, c_int64]),
    "echoline_close": (c_int, [c_void_p]),
    "echoline_detach": (None, [c_void_p]),
    "echoline_loader_get_info": (c_int, [c_void_p, POINTER(LoaderInfo)]),
    "echoline_loader_get_field": (c_int, [c_void_p, c_uint32, POINTER(Field)]),
    "echoline_steps_per_epoch": (c_int, [c_void_p, POINTER(c_uint64)]),
    "echoline_next": (c_int, [c_void_p, c_int64, POINTER(c_void_p)]),
    "echoline_begin_epoch": (c_int, [c_void_p]),
    "echoline_skip": (c_int, [c_void_p, c_uint64]),
    "echoline_state": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_size_t)]),
    "echoline_batch_release": (None, [c_void_p]),
    "echoline_batch_get_info": (c_int, [c_void_p, POINTER(BatchInfo)]),
    "echoline_batch_get_tensor": (c_int, [c_void_p, c_uint32, POINTER(Tensor)]),
    "echoline_batch_sample_ids": (c_void_p, [c_void_p]),
    "echoline_batch_uses": (c_void_p, [c_void_p]),
    "echoline_batch_row_flags": (c_void_p, [c_void_p]),
}


def _load() -> ctypes.CDLL:
    """ECHOLINE_LIBRARY, else the library in the package, else the system's."""
    chosen = os.environ.get("ECHOLINE_LIBRARY")
    inside = pathlib.Path(__file__).parent / "libecholine.so"
    library = ctypes.CDLL(chosen or (str(inside) if inside.exists() else "libecholine.so.0"))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


class Owned:
    """An object of the C library, given back with this. Its address means nothing in another process."""

    __slots__ = ("pointer",)

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer

    def __reduce__(self) -> None:
        raise TypeError("an Echoline loader or batch can be neither pickled nor deep-copied: each process "
                        "attaches a Loader of its own, under a job or rank of its own; batch.copy() can be sent")


def version() -> str:
    return lib.echoline_version().decode()


def raise_status(status: int) -> None:
    """Raises what this thread's last call with that status says."""
    text = lib.echoline_last_error().decode("utf-8", "replace")
    raise error_of(status, lib.echoline_status_text(status).decode(), text)


def check(status: int) -> None:
    if status != OK:
        raise_status(status)


def filled(structure, function, *arguments):
    """A structure of the C ABI, filled by its function."""
    made = structure(size=ctypes.sizeof(structure))
    check(function(*arguments, ctypes.byref(made)))
    return made
