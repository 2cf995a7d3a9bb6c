"""A batch as numpy arrays that are views of shared memory, and hold their slot while they live."""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from typing import Any, Dict, Iterator, NamedTuple, Sequence, Tuple, Union

import numpy as np

from . import _library
from ._library import BATCH_LAST, ROW_PADDED, BatchInfo, Tensor, lib


class FieldSpec(NamedTuple):
    """A field of a stream: its name, dtype, the shape of one row, and whether rows differ in length."""

    name: str
    dtype: np.dtype
    shape: Tuple[int, ...]
    ragged: bool


def numpy_dtype(number: int) -> np.dtype:
    """numpy's type; bfloat16 is ml_dtypes' where that is loaded, else the bits as uint16."""
    name = lib.echoline_dtype_name(number).decode()
    if name == "bfloat16":
        extra = sys.modules.get("ml_dtypes")
        return np.dtype(extra.bfloat16) if extra else np.dtype(np.uint16)
    return np.dtype(name)


class Lease(_library.Owned):
    """Owns a batch of the C library; given back when the last view of it is gone."""

    __slots__ = ()

    def __del__(self, _release=lib.echoline_batch_release) -> None:
        _release(self.pointer)


class _Memory:
    """The base object of a view: numpy keeps it, and so the lease, as long as any array on it lives."""

    __slots__ = ("__array_interface__", "lease")

    def __init__(self, lease: Lease, address: int, shape: Tuple[int, ...], typestr: str) -> None:
        self.lease = lease
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": typestr, "data": (address, True)}


def _view(lease: Lease, address: int, shape: Tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "V":  # a type that numpy's interface has no letter for
        return np.asarray(_Memory(lease, address, shape, "<u2")).view(dtype)
    return np.asarray(_Memory(lease, address, shape, dtype.str))


class Ragged(Sequence):
    """Rows of different length: `ragged[i]` is a view of row i; `values` are all, `offsets` where rows begin."""

    __slots__ = ("values", "offsets")

    def __init__(self, values: np.ndarray, offsets: np.ndarray) -> None:
        self.values, self.offsets = values, offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row):
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        return self.values[self.offsets[row]:self.offsets[row + 1]]

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def padded(self, fill: Any = 0) -> np.ndarray:
        """A copy of shape [rows, longest row], filled up with `fill`."""
        lengths = self.lengths
        out = np.full((len(self), int(lengths.max(initial=0))), fill, self.values.dtype)
        out[np.arange(out.shape[1]) < lengths[:, None]] = self.values
        return out

    def copy(self) -> "Ragged":
        return Ragged(self.values.copy(), self.offsets.copy())

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows, {self.values.dtype})"


Value = Union[np.ndarray, Ragged]


class Batch(Mapping):
    """One rank's rows of one batch: a mapping from field names to read-only arrays of shape [rows, ...].

    The arrays are views of the daemon's memory. The slot is given back when the batch and every array made from it
    are gone; `copy()` is what may be kept without bound. Any thread may use it.
    """

    __slots__ = ("epoch", "step", "rows", "valid_rows", "fresh", "is_last", "_fields", "_lease", "_arrays",
                 "__weakref__")

    #: epoch and step (of the epoch) of the batch of all ranks; rows of this rank; the first valid_rows of them are
    #: real and the rest repeats that fill up; fresh: valid rows with use 0; is_last: the epoch ends with it.
    epoch: int
    step: int
    rows: int
    valid_rows: int
    fresh: int
    is_last: bool

    def __init__(self, handle: int, fields: Dict[str, Tuple[int, FieldSpec]]) -> None:
        self._lease = Lease(handle)
        info = BatchInfo(size=ctypes.sizeof(BatchInfo))
        _library.check(lib.echoline_batch_get_info(handle, ctypes.byref(info)))
        self.epoch, self.step, self.rows = info.epoch, info.step, info.rows
        self.valid_rows, self.fresh = info.valid_rows, info.fresh
        self.is_last = bool(info.flags & BATCH_LAST)
        self._fields = fields
        self._arrays: Dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = self._make(name)
        return found

    def _make(self, name: str) -> Value:
        try:
            index, spec = self._fields[name]
        except (KeyError, TypeError):
            raise KeyError(f"no field {name!r}; there are: {', '.join(self._fields)}") from None
        tensor = _library.filled(Tensor, lib.echoline_batch_get_tensor, self._lease.pointer, index)
        if not spec.ragged:
            return _view(self._lease, tensor.data, (self.rows, *spec.shape), spec.dtype)
        offsets = np.array(_view(self._lease, tensor.offsets, (self.rows + 1,), np.dtype(np.uint64)), np.int64)
        size = spec.dtype.itemsize
        values = _view(self._lease, tensor.data + int(offsets[0]), (tensor.bytes // size,), spec.dtype)
        return Ragged(values, (offsets - offsets[0]) // size)

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        """The number of fields, as of any mapping; `rows` is the number of rows."""
        return len(self._fields)

    def _words(self, name: str, function, dtype) -> np.ndarray:
        found = self._arrays.get(name)
        if found is None:
            found = _view(self._lease, function(self._lease.pointer), (self.rows,), np.dtype(dtype))
            self._arrays[name] = found
        return found

    @property
    def sample_ids(self) -> np.ndarray:
        """uint64 [rows]: each record's place in the index."""
        return self._words("__sample_id__", lib.echoline_batch_sample_ids, np.uint64)

    @property
    def uses(self) -> np.ndarray:
        """uint32 [rows]: which use of its record in this epoch a row is, from 0."""
        return self._words("__use__", lib.echoline_batch_uses, np.uint32)

    @property
    def flags(self) -> np.ndarray:
        """uint32 [rows]: 1 for a repeat that fills up, 2 for a row that stands in for a bad record."""
        return self._words("__flags__", lib.echoline_batch_row_flags, np.uint32)

    @property
    def valid(self) -> np.ndarray:
        """bool [rows]: False for repeats that fill up the batch."""
        return (self.flags & ROW_PADDED) == 0

    def copy(self) -> "Batch":
        """The same batch in memory of its own, writable: it holds no slot."""
        made = Batch.__new__(Batch)
        for name in ("epoch", "step", "rows", "valid_rows", "fresh", "is_last", "_fields"):
            setattr(made, name, getattr(self, name))
        made._lease = None
        made._arrays = {name: self[name].copy() for name in self._fields}
        made._arrays.update({"__sample_id__": self.sample_ids.copy(), "__use__": self.uses.copy(),
                             "__flags__": self.flags.copy()})
        return made

    def __repr__(self) -> str:
        return f"Batch(epoch {self.epoch}, step {self.step}, {self.rows} rows of {', '.join(self._fields)})"
