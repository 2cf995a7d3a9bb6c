"""A batch as numpy arrays that are views of shared memory, and hold their slot while they live."""
from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any, Callable, Iterator, NamedTuple, Sequence, Tuple, Union

import numpy as np

from ._library import native

ROW_PADDED = 1  # of a row's flags


class FieldSpec(NamedTuple):
    """A field of a stream: its name, dtype, the shape of one row, and whether rows differ in length."""

    name: str
    dtype: np.dtype
    shape: Tuple[int, ...]
    ragged: bool


def numpy_dtype(name: str) -> np.dtype:
    """numpy's type; bfloat16 is ml_dtypes' where that is loaded, else the bits as uint16."""
    if name == "bfloat16":
        extra = sys.modules.get("ml_dtypes")
        return np.dtype(extra.bfloat16) if extra else np.dtype(np.uint16)
    return np.dtype(name)


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


def _with_dtype(dtype: np.dtype, memory: Any) -> np.ndarray:
    view = np.asarray(memory)
    return view if view.dtype == dtype else view.view(dtype)  # bfloat16, which numpy's interface has no letter for


def _ragged(dtype: np.dtype, memory: Tuple[Any, Any]) -> Ragged:
    values, offsets = memory
    offsets = np.array(offsets, np.int64)
    return Ragged(_with_dtype(dtype, values), (offsets - offsets[0]) // dtype.itemsize)


# Of a loader: number, facts, and what makes a batch's value of its memory.
Field = Tuple[int, FieldSpec, Callable[[Any], Value]]


def value_maker(spec: FieldSpec) -> Callable[[Any], Value]:
    """What makes a batch's value of the memory of such a field."""
    if spec.ragged:
        return functools.partial(_ragged, spec.dtype)
    return functools.partial(_with_dtype, spec.dtype) if spec.dtype.kind == "V" else np.asarray


class AnyBatch(Mapping):
    """What batches have in common, on the host and on a GPU."""

    __slots__ = ()

    #: epoch and step (of the epoch) of the batch of all ranks; rows of this rank; the first valid_rows of them are
    #: real and the rest repeats that fill up; fresh: valid rows with use 0; is_last: the epoch ends with it.
    epoch: int
    step: int
    rows: int
    valid_rows: int
    fresh: int
    is_last: bool

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        """The number of fields, as of any mapping; `rows` is the number of rows."""
        return len(self._fields)

    @property
    def valid(self) -> np.ndarray:
        """bool [rows], on the host: False for repeats that fill up the batch."""
        return (self.flags & ROW_PADDED) == 0


class Batch(native.Batch, AnyBatch):
    """One rank's rows of one batch: a mapping from field names to read-only arrays of shape [rows, ...].

    The arrays are views of the daemon's memory. The slot is given back when the batch and every array made from it
    are gone; `copy()` is what may be kept without bound. Any thread may use it.
    """

    __slots__ = ()

    def _words(self, name: str, memory: Callable[[], Any]) -> np.ndarray:
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = np.asarray(memory())
        return found

    @property
    def sample_ids(self) -> np.ndarray:
        """uint64 [rows]: each record's place in the index."""
        return self._words("__sample_id__", self._sample_ids)

    @property
    def uses(self) -> np.ndarray:
        """uint32 [rows]: which use of its record in this epoch a row is, from 0."""
        return self._words("__use__", self._uses)

    @property
    def flags(self) -> np.ndarray:
        """uint32 [rows]: 1 for a repeat that fills up, 2 for a row that stands in for a bad record."""
        return self._words("__flags__", self._flags)

    def _facts(self) -> Tuple[Any, ...]:
        return (self.epoch, self.step, self.rows, self.valid_rows, self.fresh, self.is_last, self._fields)

    def copy(self) -> "Batch":
        """The same batch in memory of its own, writable: it holds no slot."""
        arrays = {name: self[name].copy() for name in self._fields}
        arrays.update({"__sample_id__": self.sample_ids.copy(), "__use__": self.uses.copy(),
                       "__flags__": self.flags.copy()})
        return Batch(*self._facts(), arrays)

    def __reduce__(self) -> Tuple[Any, ...]:
        if self._has_lease:
            return native.refuse_pickle()
        return Batch, (*self._facts(), self._arrays)

    def __repr__(self) -> str:
        return f"Batch(epoch {self.epoch}, step {self.step}, {self.rows} rows of {', '.join(self._fields)})"
