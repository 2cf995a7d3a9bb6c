"""A batch as numpy arrays: views of shared memory that hold a slot of the ring as long as they exist."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Mapping
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import InvalidArgument
from ._library import native

ROW_PADDED = 1  # bit in the flags of a row


class FieldSpec(NamedTuple):
    """A field of a stream: name, dtype, shape of one row, and whether rows have different lengths.

    The first size of a ragged field is the largest one.
    """

    name: str
    dtype: np.dtype
    shape: Tuple[int, ...]
    ragged: bool


def describe(specs: Iterable[FieldSpec]) -> str:
    """Names, types and shapes of rows, for people."""
    return ", ".join(f"{spec.name} {spec.dtype} {_shape_text(spec)}" for spec in specs)


def _shape_text(spec: FieldSpec) -> str:
    if not spec.ragged:
        return str(list(spec.shape))
    return "ragged" if len(spec.shape) == 1 else f"ragged {['n', *spec.shape[1:]]}".replace("'", "")


def numpy_dtype(name: str) -> np.dtype:
    """The numpy type. bfloat16 is the type of ml_dtypes if that module is loaded, else uint16 (the bits)."""
    if name == "bfloat16":
        extra = sys.modules.get("ml_dtypes")
        return np.dtype(extra.bfloat16) if extra else np.dtype(np.uint16)
    return np.dtype(name)


class Ragged(Sequence):
    """Rows of different lengths: `ragged[i]` is a view of row i.

    `values` has all elements. Row i is values[offsets[i]:offsets[i + 1]]. Elements can be arrays: rows of boxes [n, 4]
    have `values` of shape [all, 4].
    """

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
        """Elements of each row."""
        return np.diff(self.offsets)

    def padded(self, fill: Any = 0, length: Optional[int] = None) -> np.ndarray:
        """A copy of shape [rows, length, ...]; `fill` fills up shorter rows. By default, `length` is the longest row's."""
        lengths = self.lengths
        longest = int(lengths.max(initial=0))
        length = longest if length is None else length
        if longest > length:
            raise InvalidArgument(f"a row has {longest} elements, more than the length to pad to, {length}")
        out = np.full((len(self), length, *self.values.shape[1:]), fill, self.values.dtype)
        out[np.arange(out.shape[1]) < lengths[:, None]] = self.values
        return out

    def copy(self) -> "Ragged":
        """A writable copy that holds no slot."""
        return Ragged(self.values.copy(), self.offsets.copy())

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows, {self.values.dtype})"


Value = Union[np.ndarray, Ragged]


def _with_dtype(dtype: np.dtype, memory: Any) -> np.ndarray:
    view = np.asarray(memory)
    return view if view.dtype == dtype else view.view(dtype)  # numpy's array interface has no letter for bfloat16


def _ragged(dtype: np.dtype, memory: Tuple[Any, Any]) -> Ragged:
    values, offsets = memory
    offsets = np.array(offsets, np.int64)
    values = _with_dtype(dtype, values)
    return Ragged(values, (offsets - offsets[0]) // (dtype.itemsize * math.prod(values.shape[1:])))


# A field of a loader: its number, its spec, and the function that makes a batch's value from memory.
Field = Tuple[int, FieldSpec, Callable[[Any], Value]]


def value_maker(spec: FieldSpec) -> Callable[[Any], Value]:
    """The function that makes a batch's value from the memory of such a field."""
    if spec.ragged:
        return functools.partial(_ragged, spec.dtype)
    return functools.partial(_with_dtype, spec.dtype) if spec.dtype.kind == "V" else np.asarray


class AnyBatch(Mapping):
    """Base of batches on the host and on a GPU."""

    __slots__ = ()

    #: epoch, step: position of the batch of all ranks; step counts within the epoch. rows: of this rank. valid_rows:
    #: the rows from here on are repeats that fill up the batch. fresh: valid rows with use 0. bucket_length: the largest
    #: length of the records of its bucket, 0 without buckets. is_last: the epoch ends with this batch.
    epoch: int
    step: int
    rows: int
    valid_rows: int
    fresh: int
    bucket_length: int
    is_last: bool
    flags: Any
    _fields: Any

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        """The number of fields, as for any mapping; `rows` is the number of rows."""
        return len(self._fields)

    @property
    def valid(self) -> np.ndarray:
        """bool [rows], on the host: False for repeats that fill up the batch."""
        return (self.flags & ROW_PADDED) == 0


class Batch(native.Batch, AnyBatch):
    """One rank's rows of one batch: a mapping from field names to read-only arrays of shape [rows, ...].

    The arrays are views of shared memory. The slot is released when the batch and every array made from it are
    destroyed; a `copy()` can be kept as long as you like. Any thread may use a batch.
    """

    __slots__ = ()

    def _per_row(self, name: str, memory: Callable[[], Any]) -> np.ndarray:
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = np.asarray(memory())
        return found

    @property
    def sample_ids(self) -> np.ndarray:
        """uint64 [rows]: the position of each record in the index."""
        return self._per_row("__sample_id__", self._sample_ids)

    @property
    def uses(self) -> np.ndarray:
        """uint32 [rows]: which use of its record in this epoch a row is, from 0."""
        return self._per_row("__use__", self._uses)

    @property
    def flags(self) -> np.ndarray:
        """uint32 [rows]: 1 for a repeat that fills up the batch, 2 for a replacement of a bad record."""
        return self._per_row("__flags__", self._flags)

    def _properties(self) -> Tuple[Any, ...]:
        return (self.epoch, self.step, self.rows, self.valid_rows, self.fresh, self.bucket_length, self.is_last,
                self._fields)

    def copy(self) -> "Batch":
        """The same batch in private, writable memory; it holds no slot."""
        arrays = {name: self[name].copy() for name in self._fields}
        arrays.update({"__sample_id__": self.sample_ids.copy(), "__use__": self.uses.copy(),
                       "__flags__": self.flags.copy()})
        return Batch(*self._properties(), arrays)

    def __reduce__(self) -> Tuple[Any, ...]:
        if self._has_lease:
            return native.refuse_pickle()
        return Batch, (*self._properties(), self._arrays)

    def __repr__(self) -> str:
        specs = (spec for _, spec, _ in self._fields.values())
        return f"Batch(epoch {self.epoch}, step {self.step}, {self.rows} rows of {describe(specs)})"
