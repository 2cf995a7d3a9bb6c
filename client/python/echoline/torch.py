"""Batches as torch tensors: views of shared memory on the CPU, of the loader's buffers on a GPU.

Only this module and _torch_mix.py import torch. Tensors hold their slot or buffer as long as they exist. torch has no read-only tensors:
do not write to a tensor of shared memory in place, the process would end with a fault; write to its `.clone()`.
"""
from __future__ import annotations

import ctypes
import math
from typing import (TYPE_CHECKING, Any, Callable, Container, Dict, Generic, Iterator, Mapping, Optional, Sequence, Tuple,
                    Union, overload)

import numpy as np
import torch
import torch.utils.data

from . import cuda
from ._batch import Batch
from ._batch import Ragged as _HostRagged
from ._configuration import Configuration
from ._errors import Error, InvalidArgument
from ._framework import UNAVAILABLE, Fields, FrameworkLoader, Item, NumpyLoader, gpu_options, host_options
from ._library import native
from ._mix import Mix, RandomChoice
from ._options import FrameworkOptions
from ._torch_mix import CutMix, MixUp
from .cuda import Flip, Normalize, Ragged

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["CutMix", "Dataset", "Flip", "Loader", "MixUp", "Normalize", "Ragged", "RandomChoice", "TensorBatch", "padded", "to_tensor"]

# The type to use if this torch lacks an unsigned type: the next wider signed one. It needs a copy, except for 64 bits.
_WIDER = {"uint16": np.int32, "uint32": np.int64}


class _Buffer:
    """Lets a torch tensor keep a numpy view alive: torch holds the ctypes array, which holds the view."""

    @staticmethod
    def of(array: np.ndarray) -> ctypes.Array:
        buffer = (ctypes.c_uint8 * array.nbytes).from_address(array.__array_interface__["data"][0])
        buffer.view = array  # type: ignore[attr-defined]
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
    if array.nbytes == 0 or not array.flags.c_contiguous:
        return torch.from_numpy(np.array(array)).view(dtype)
    return torch.frombuffer(_Buffer.of(array), dtype=dtype).reshape(array.shape)


def padded(rows: Sequence[torch.Tensor], fill: float = 0, length: Optional[int] = None) -> torch.Tensor:
    """A tensor [rows, length, ...] of a field whose rows differ in length; `fill` fills up shorter rows.

    By default, `length` is that of the longest row. `batch.bucket_length` gives one shape for each bucket.
    """
    longest = max(len(row) for row in rows)
    length = longest if length is None else length
    if longest > length:
        raise InvalidArgument(f"a row has {longest} elements, more than the length to pad to, {length}")
    out = rows[0].new_full((len(rows), length, *rows[0].shape[1:]), fill)
    for target, row in zip(out, rows):
        target[:len(row)] = row
    return out


def _host_values(batch: Batch, fields: Sequence[str], bfloat16: Sequence[str]) -> Dict[str, Any]:
    values: Dict[str, Any] = {}
    for name in fields:
        value = batch[name]
        dtype = torch.bfloat16 if name in bfloat16 else None
        if isinstance(value, _HostRagged):
            values[name] = [to_tensor(row, dtype) for row in value]
        else:
            values[name] = to_tensor(value, dtype)
    return values


def _device_tensor(memory: cuda.Tensor) -> torch.Tensor:
    """A tensor on the buffer's memory. Passes bytes, because DLPack in an older torch lacks types that torch has."""
    flat = torch.utils.dlpack.from_dlpack(memory._bytes())
    name = memory.dtype
    if hasattr(torch, name):
        return flat.view(getattr(torch, name)).view(memory.shape)
    narrow = flat.view(getattr(torch, name[1:])).view(memory.shape)
    if name == "uint64":
        return narrow
    return narrow.to(getattr(torch, _WIDER[name].__name__)) & np.iinfo(name).max


def _device_ragged(ragged: Ragged) -> Ragged:
    values, offsets = _device_tensor(ragged.values), _device_tensor(ragged.offsets)
    # Not from `values`: it may have a wider type.
    bytes_each = 2 if ragged.values.dtype == "bfloat16" else np.dtype(ragged.values.dtype).itemsize
    return Ragged(values, offsets.view(torch.int64) // (bytes_each * math.prod(values.shape[1:])))


def _device_values(batch: cuda.Batch, fields: Sequence[str], channels_last: Container[str]) -> Dict[str, Any]:
    values: Dict[str, Any] = {}
    for name in fields:
        value = batch[name]
        if isinstance(value, Ragged):
            values[name] = _device_ragged(value)
            continue
        made = _device_tensor(value)
        values[name] = made.permute(0, 3, 1, 2) if name in channels_last else made
    return values


class TensorBatch(Dict[str, torch.Tensor]):
    """A dict from field names to tensors, with the properties of the batch: sample_ids, uses, flags, valid, epoch, step, ...

    Draws of your own that are the same in every run depend on `seed` (of the stream), epoch, step and `rank`.
    The value of a field whose rows differ in length is a list of tensors, or Ragged on a GPU, other than its type says. A
    TensorBatch that is made of a dict has no properties.
    """

    seed: int
    rank: int

    # Trainers of frameworks move a batch to a device with type(batch)({name: tensor, ...}).
    def __init__(self, values: Mapping[str, Any], batch: Union[Batch, cuda.Batch, None] = None) -> None:
        super().__init__(values)
        if batch is not None:
            self.epoch, self.step, self.rows = batch.epoch, batch.step, batch.rows
            self.valid_rows, self.fresh, self.is_last = batch.valid_rows, batch.fresh, batch.is_last
            self.bucket_length = batch.bucket_length
            self._batch = batch

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

    def __repr__(self) -> str:
        fields = ", ".join(f"{name} {_shape_of(value)}" for name, value in self.items())
        place = f"epoch {self.epoch}, step {self.step}, {self.rows} rows of " if hasattr(self, "_batch") else ""
        return f"TensorBatch({place}{fields})"

    def clone(self) -> Dict[str, Any]:
        """Copies of the tensors, which you can keep and write to."""
        return {name: _clone(value) for name, value in self.items()}


def _shape_of(value: Any) -> str:
    """Type and shape of one row, as Batch shows them."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).replace('torch.', '')} {list(value.shape[1:])}"
    return "ragged"


def _clone(value: Any) -> Any:
    if isinstance(value, Ragged):
        return Ragged(value.values.clone(), value.offsets)
    return [row.clone() for row in value] if isinstance(value, list) else value.clone()


def _ordinal(device: torch.device) -> int:
    if not torch.cuda.is_available():
        why = ("sees no GPU; is the driver installed, and does CUDA_VISIBLE_DEVICES leave one?" if torch.version.cuda
               else "is built without CUDA; install one with it, or leave device out")
        raise Error(f"device={str(device)!r}: this torch {torch.__version__} {why}", UNAVAILABLE)
    torch.cuda.init()
    return torch.cuda.current_device() if device.index is None else device.index


class Loader(FrameworkLoader[Item], Generic[Item]):
    """Replaces a DataLoader: each `for` loop is one epoch of dicts of tensors (or what `fields` and `collate` say).

    Arguments are those of echoline.Loader. `fields=("image", "label")` yields tuples of these fields, in this order;
    `fields={"image": "pixel_values"}` yields dicts of these fields with the names on the right. `collate` is a function
    of such a batch whose result the loop yields instead; a MixUp, CutMix or RandomChoice of them mixes before that. With
    `device="cuda"` or "cuda:1" tensors are on that GPU, for the stream that is current when the batch is taken; then there
    are also `depth`, `echo`, `transforms` and `pad` of echoline.cuda.Loader. The layout "channels_last" gives tensors of
    that memory format.

    Tensors on a GPU do not belong to torch's allocator, so record_stream() has no effect on them. If other streams use a
    batch, call `current_stream().wait_stream(other)` before its last tensor is destroyed. CUDA graphs: take batches
    outside of the capture, and copy them to the inputs of the graph.
    """

    @overload
    def __init__(self: "Loader[TensorBatch]", stream: Union[str, Configuration], *args: Any,
                 fields: Optional[Mapping[str, str]] = None, collate: Optional[Mix] = None,
                 device: Union[str, torch.device] = "cpu", **kwargs: Unpack[FrameworkOptions]) -> None: ...

    @overload
    def __init__(self: "Loader[Tuple[torch.Tensor, ...]]", stream: Union[str, Configuration], *args: Any,
                 fields: Sequence[str], collate: Optional[Mix] = None, device: Union[str, torch.device] = "cpu",
                 **kwargs: Unpack[FrameworkOptions]) -> None: ...

    @overload
    def __init__(self, stream: Union[str, Configuration], *args: Any, fields: Optional[Fields] = None,
                 collate: Callable[[Any], Item], device: Union[str, torch.device] = "cpu", **kwargs: Unpack[FrameworkOptions]) -> None: ...

    def __init__(self, stream: Union[str, Configuration], *args: Any, fields: Optional[Fields] = None,
                 collate: Optional[Callable[[Any], Item]] = None, device: Union[str, torch.device] = "cpu",
                 **kwargs: Unpack[FrameworkOptions]) -> None:
        device = torch.device(device)
        self._on_gpu = device.type == "cuda"
        if device.type == "cuda":
            self._channels_last = {name for name, transform in (kwargs.get("transforms") or {}).items()
                                   if getattr(transform, "layout", None) == "channels_last"}
            index = _ordinal(device)
            super().__init__(cuda.Loader(stream, *args, device=index,
                                         cuda_stream=lambda: torch.cuda.current_stream(index).cuda_stream,
                                         **gpu_options(kwargs, collate)),
                             fields, collate)
        elif device.type == "cpu":
            if not kwargs.get("writable"):
                native.explain_faults()
            super().__init__(NumpyLoader(stream, *args, **host_options(kwargs)), fields, collate)
        else:
            raise NotImplementedError(f"device {device} is not supported; copy with tensor.to({str(device)!r})")

    def report(self, losses: torch.Tensor, uses: Any) -> int:
        """As echoline.Loader.report. Losses on a GPU are awaited, so do not report each of them."""
        return self._loader.report(losses, uses)

    def _make(self, batch: Any, names: Sequence[str]) -> TensorBatch:
        if self._on_gpu:
            return TensorBatch(_device_values(batch, names, self._channels_last), batch)
        return TensorBatch(_host_values(batch, names, self._loader.bfloat16_fields), batch)


class Dataset(torch.utils.data.IterableDataset[Item]):
    """For code that must have a torch.utils.data.DataLoader: DataLoader(Dataset(loader), batch_size=None).

    Its items are the batches of the loader. A stream has no random access: there are no samplers and no workers.
    """

    def __init__(self, loader: Loader[Item]) -> None:
        super().__init__()
        self.loader = loader

    def __iter__(self) -> Iterator[Item]:
        if torch.utils.data.get_worker_info() is not None:
            raise InvalidArgument("the daemon prepares the batches, and workers can't use the loader of another process: "
                                  "give the DataLoader num_workers=0")
        return iter(self.loader)

    def __len__(self) -> int:
        return len(self.loader)
