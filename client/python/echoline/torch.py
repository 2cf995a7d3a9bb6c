"""Batches as torch tensors that are views of shared memory.

torch is imported here and nowhere else. Tensors keep their slot while they live. torch knows no read-only tensors: a
tensor of the shared memory must not be written in place (the process would fault); `.clone()` is one's own.
"""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence

import numpy as np
import torch

from ._batch import Batch, Ragged
from ._loader import Loader as _NumpyLoader

__all__ = ["Loader", "TensorBatch", "to_tensor"]

# Where this torch lacks an unsigned type, the next wider signed one: a copy, but for 64 bits.
_WIDER = {"uint16": np.int32, "uint32": np.int64}


class _Buffer:
    """Makes a torch tensor keep a numpy view: torch holds the ctypes array, which holds the view."""

    @staticmethod
    def of(array: np.ndarray) -> ctypes.Array:
        buffer = (ctypes.c_uint8 * array.nbytes).from_address(array.__array_interface__["data"][0])
        buffer.view = array
        return buffer


def to_tensor(array: np.ndarray, dtype: Optional[torch.dtype] = None) -> torch.Tensor:
    """A tensor on the array's memory, without a copy and without torch's warning about read-only arrays."""
    if dtype is None:
        name = array.dtype.name
        if not hasattr(torch, name):
            if name == "uint64":
                array = array.view(np.int64)
            else:
                array = array.astype(_WIDER[name])
        dtype = getattr(torch, array.dtype.name)
    if array.flags.writeable or array.nbytes == 0 or not array.flags.c_contiguous:
        return torch.from_numpy(np.array(array)).view(dtype)
    return torch.frombuffer(_Buffer.of(array), dtype=dtype).reshape(array.shape)


class TensorBatch(Dict[str, Any]):
    """A dict from field names to tensors, with the facts of the batch: sample_ids, uses, flags, valid, epoch, ..."""

    def __init__(self, batch: Batch, fields: Sequence[str], bfloat16: Sequence[str]) -> None:
        super().__init__()
        self.epoch, self.step, self.rows = batch.epoch, batch.step, batch.rows
        self.valid_rows, self.fresh, self.is_last = batch.valid_rows, batch.fresh, batch.is_last
        self._batch = batch
        for name in fields:
            value = batch[name]
            dtype = torch.bfloat16 if name in bfloat16 else None
            if isinstance(value, Ragged):
                self[name] = [to_tensor(row, dtype) for row in value]
            else:
                self[name] = to_tensor(value, dtype)

    @property
    def sample_ids(self) -> torch.Tensor:
        return to_tensor(self._batch.sample_ids)

    @property
    def uses(self) -> torch.Tensor:
        return to_tensor(self._batch.uses)

    @property
    def flags(self) -> torch.Tensor:
        return to_tensor(self._batch.flags)

    @property
    def valid(self) -> torch.Tensor:
        return torch.from_numpy(np.array(self._batch.valid))

    def clone(self) -> Dict[str, Any]:
        """The tensors in memory of their own, which may be kept and written."""
        return {name: [row.clone() for row in value] if isinstance(value, list) else value.clone()
                for name, value in self.items()}


class Loader:
    """Works where a DataLoader worked: every `for` is one epoch of dicts of CPU tensors (or tuples, see `fields`).

    Arguments are those of echoline.Loader; `fields=("image", "label")` yields tuples of these, in this order.
    """

    def __init__(self, stream: str, *args: Any, fields: Optional[Sequence[str]] = None, **kwargs: Any) -> None:
        device = torch.device(kwargs.pop("device", "cpu"))
        if device.type != "cpu":
            raise NotImplementedError(f"device {device} is not supported yet; copy with tensor.to({str(device)!r})")
        self._loader = _NumpyLoader(stream, *args, **kwargs)
        self._tuple = None if fields is None else tuple(fields)
        known = self._loader.fields
        for name in self._tuple or ():
            if name not in known:
                raise KeyError(f"no field {name!r}; there are: {', '.join(known)}")

    def __iter__(self) -> Iterator[Any]:
        names = self._tuple or tuple(self._loader.fields)
        bfloat16 = self._loader.bfloat16_fields
        for batch in self._loader:
            made = TensorBatch(batch, names, bfloat16)
            del batch
            yield made if self._tuple is None else tuple(made[name] for name in names)
            del made

    def __len__(self) -> int:
        return len(self._loader)

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned."""
        return self._loader.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on with exactly the batch after the state."""
        self._loader.load_state_dict(state_dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
