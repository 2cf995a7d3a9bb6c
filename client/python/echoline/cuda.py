"""Batches on an NVIDIA GPU, for all libraries that support DLPack or CUDA's array interface (CuPy, Numba, ...).

    loader = echoline.cuda.Loader("train", device=0, transforms={"image": echoline.cuda.Normalize(dtype="float16")})
    for batch in loader:
        image = cupy.from_dlpack(batch["image"])

The import needs no CUDA. A Loader loads the driver (libcuda.so.1) when it is created, and raises Error if there is none.
`echoline.torch.Loader(device="cuda")` and `echoline.jax.Loader` use this loader.
"""
from __future__ import annotations

import atexit
import json
import logging
import re
import time
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._batch import AnyBatch, FieldSpec
from ._configuration import Configuration
from ._errors import FailedPrecondition, InvalidArgument, LeaseHeld
from ._library import native
from ._loader import Loader as _HostLoader
from ._loader import check_count

__all__ = ["Batch", "Flip", "Loader", "Normalize", "Ragged", "Tensor"]

Tensor = native.DeviceTensor

_log = logging.getLogger("echoline")
_DTYPES = {"float16": 9, "float32": 10, "bfloat16": 12}  # echoline_dtype
_LAYOUTS = {"chw": 1, "hwc": 2, "channels_last": 2}      # echoline_cuda_layout
_PATHS = {1: "read_only", 2: "writable", 3: "staged"}    # echoline_cuda_path
_WAYS = {"read_only": "the shared memory itself, registered read-only",
         "writable": "the shared memory itself, registered through a writable mapping",
         "staged": "pinned memory that the CPU copies batches into: the shared memory could not be registered"}
_CHANNELS_MAX = 8
_POLL_SECONDS = 0.0005


class Normalize(NamedTuple):
    """Converts uint8 rows [height, width, channels] to (pixel / 255 - mean) / std, as torchvision's Normalize does.

    `mean` and `std`: a number, or one for each channel. `dtype`: float32, float16 or bfloat16, by name or as a type of
    torch, JAX or numpy. `layout`: "chw", "hwc", or "channels_last" (hwc in memory, which torch shows as chw). `flip`:
    mirrors each use of a row left to right with probability 1/2; the draws are the same in every run.
    """

    mean: Union[float, Sequence[float]] = 0.0
    std: Union[float, Sequence[float]] = 1.0
    dtype: Any = "float32"
    layout: str = "chw"
    flip: bool = False


class Flip(NamedTuple):
    """Mirrors each use of a row left to right with probability 1/2; type and layout stay the same."""


class Ragged(NamedTuple):
    """Rows of different lengths: all values, and the offsets in bytes at which rows begin and end: uint64 [rows + 1]."""

    values: Any
    offsets: Any


def _dtype_number(name: str, dtype: Any) -> int:
    found = re.search(r"\b(bfloat16|float16|float32)\b", str(dtype))
    if not found:
        raise InvalidArgument(f"{name}: dtype must be float32, float16 or bfloat16, not {dtype!r}")
    return _DTYPES[found.group(1)]


def _per_channel(name: str, what: str, value: Union[float, Sequence[float]], channels: int) -> Tuple[float, ...]:
    values = tuple(float(v) for v in np.atleast_1d(np.asarray(value, np.float64)))
    if len(values) == 1:
        values *= min(channels, _CHANNELS_MAX)
    elif len(values) != channels:
        raise InvalidArgument(f"{name}: {what} has {len(values)} values for {channels} channels")
    return values


def _field_options(spec: FieldSpec, transform: Union[Normalize, Flip]) -> Tuple[Any, ...]:
    if isinstance(transform, Flip):
        return spec.name, 0, 0, True, False, 0.0, (), ()
    if not isinstance(transform, Normalize):
        raise InvalidArgument(f"{spec.name}: a transform is a Normalize or a Flip, not {transform!r}")
    if transform.layout not in _LAYOUTS:
        raise InvalidArgument(f"{spec.name}: layout must be one of {', '.join(_LAYOUTS)}, not {transform.layout!r}")
    channels = spec.shape[-1] if spec.shape else 1
    std = _per_channel(spec.name, "std", transform.std, channels)
    if 0 in std:
        raise InvalidArgument(f"{spec.name}: std must not be 0")
    return (spec.name, _dtype_number(spec.name, transform.dtype), _LAYOUTS[transform.layout], bool(transform.flip), False,
            0.0, _per_channel(spec.name, "mean", transform.mean, channels), std)


def _all_field_options(fields: Mapping[str, FieldSpec], transforms: Mapping[str, Any],
                       pad: Mapping[str, float]) -> List[Any]:
    for name in (*transforms, *pad):
        if name not in fields:
            raise InvalidArgument(f"no field {name!r}; there are: {', '.join(fields)}")
    both = set(transforms) & set(pad)
    if both:
        raise InvalidArgument(f"{', '.join(sorted(both))}: a field is either padded or transformed")
    return ([_field_options(fields[name], transform) for name, transform in transforms.items()] +
            [(name, 0, 0, False, True, float(fill), (), ()) for name, fill in pad.items()])


class Batch(native.DeviceBatch, AnyBatch):
    """One rank's rows of one batch: a mapping from field names to `Tensor`s, or to `Ragged` of two.

    The loader owns the memory. The batch is released when it and everything made from it are destroyed, on the stream that
    it was taken for: before that, make this stream wait for the work of other streams on the batch. Under device echo later
    batches use the same memory, so do not write to it.
    """

    __slots__ = ()

    device: int  # its ordinal

    def __getitem__(self, name: str) -> Any:
        if name not in self._fields:
            raise KeyError(f"no field {name!r}; there are: {', '.join(self._fields)}")
        found = self._tensor(self._fields[name])
        return Ragged(*found) if isinstance(found, tuple) else found

    @property
    def sample_ids(self) -> np.ndarray:
        """uint64 [rows], on the host: the position of each record in the index."""
        return np.frombuffer(self._sample_ids(), np.uint64)

    @property
    def uses(self) -> np.ndarray:
        """uint32 [rows], on the host: which use of its record in this epoch a row is, from 0, including device echo."""
        return np.frombuffer(self._uses(), np.uint32)

    @property
    def flags(self) -> np.ndarray:
        """uint32 [rows], on the host: 1 for a repeat that fills up the batch, 2 for a replacement of a bad record."""
        return np.frombuffer(self._flags(), np.uint32)

    def __repr__(self) -> str:
        return (f"Batch(epoch {self.epoch}, step {self.step}, {self.rows} rows of {', '.join(self._fields)} "
                f"on GPU {self.device})")


# Close all loaders before the process exits: the driver shuts down then, and no copy may be in flight.
_open_loaders: "weakref.WeakSet[Loader]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for loader in list(_open_loaders):
        loader.close()


def _echo(echo: Any) -> Tuple[int, int]:
    both = (echo, 1) if isinstance(echo, int) else echo
    if not isinstance(both, (tuple, list)) or len(both) != 2 or not all(isinstance(one, int) and one > 0 for one in both):
        raise InvalidArgument(f"echo is a whole factor or (factor, window), not {echo!r}")
    return both[0], both[1]


class Loader:
    """Each `for` loop is one epoch of batches on a GPU. Arguments that are not listed here are those of echoline.Loader.

    `device`: ordinal in the CUDA driver's order.
    `depth`: number of batches on the device that are being copied, ready, or held by the trainer; a `for` loop holds up to
    two of them.
    `echo`: device echo as (factor, window): the trainer gets each batch `factor` times, and the device alternates among
    `window` batches. The factor alone: the uses of a batch follow each other directly.
    `transforms`: a Normalize or Flip for a field. `pad`: for a ragged field the value that fills up its rows to one tensor.
    `cuda_stream`: the handle of the stream on which batches are used, or a function that returns it, called for each
    batch; 0: the legacy default stream.
    """

    # Seconds to wait for buffers that a library holds longer than its arrays exist.
    _patience = 0.0

    def __init__(self, stream: Union[str, Configuration], *args: Any, device: int = 0, depth: int = 3,
                 echo: Union[int, Tuple[int, int]] = 1, transforms: Optional[Mapping[str, Any]] = None,
                 pad: Optional[Mapping[str, float]] = None, cuda_stream: Union[int, Callable[[], int]] = 0,
                 **kwargs: Any) -> None:
        if not isinstance(device, int):
            raise InvalidArgument(f"device is an ordinal such as 0 here, not {device!r}; names are for echoline.torch and "
                                  "echoline.jax")
        if kwargs.get("writable"):
            raise InvalidArgument("writable is for loaders on the CPU; copy the tensors that you write to")
        self._factor, window = _echo(echo)
        for name, value in (("device", device), ("depth", depth), ("echo's factor", self._factor), ("echo's window", window)):
            check_count(name, value, 0)
        transforms = dict(transforms or {})
        flips = any(isinstance(t, Flip) or getattr(t, "flip", False) for t in transforms.values())
        if flips and self._factor > 1 and window < self._factor:
            raise InvalidArgument(f"with flips, uses of a batch that come back to back write over each other, while a loop "
                                  f"still holds the one before: make the window of echo={echo} at least {self._factor}")
        self._stream_of = cuda_stream if callable(cuda_stream) else lambda: cuda_stream
        self._loader = _HostLoader(stream, *args, **kwargs)
        try:
            fields = _all_field_options(self._loader.fields, transforms, dict(pad or {}))
            self._options = (device, depth, self._factor, window, fields)
            self._open()
        except BaseException:
            self._loader.close()
            raise
        _open_loaders.add(self)

    def _open(self) -> None:
        numbers = {name: index for index, name in enumerate(self._loader.fields)}
        self._device = native.DeviceLoader(self._loader, Batch, numbers, *self._options)
        _log.info("stream %s: GPU %d reads %s", self._loader.stream, self._options[0], _WAYS[self.stats()["path"]])
        self._began = False

    # ---- batches ----

    def __iter__(self) -> Iterator[Batch]:
        """One epoch; after a `break` the next `for` begins the next epoch."""
        self._device.begin_epoch()
        return native.Epoch(self.next)

    def __len__(self) -> int:
        """The exact number of batches of an epoch: that of the stream times the factor of device echo."""
        return len(self._loader) * self._factor

    def next(self, timeout: Optional[float] = None) -> Optional[Batch]:
        """The next batch, or None at the end of an epoch.

        Raises TimeoutError if no batch was ready within `timeout` seconds.
        """
        begin = time.monotonic()
        patience = self._patience if timeout is None else min(self._patience, timeout)
        while True:
            left = None if timeout is None else max(0.0, begin + timeout - time.monotonic())
            try:
                batch = self._device.next(self._stream_of(), left)
            except LeaseHeld:
                if time.monotonic() >= begin + patience:
                    raise
                time.sleep(_POLL_SECONDS)
            except FailedPrecondition:
                if self._began:
                    raise
                self._device.close()
                if not self._loader._renew():  # the data changed since a private daemon indexed them
                    raise
                self._open()
            else:
                self._began = True
                return batch

    # ---- state ----

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned, including device echo: small, can be written as JSON."""
        return json.loads(self._device.state())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues with exactly the use after the state, which must have the same device echo. Reopens the device."""
        state = dict(state_dict)
        if not self._began and state == self.state_dict():
            return
        self._device.close()
        try:
            self._loader.load_state_dict(state)
            self._open()
        except BaseException:
            self.close()
            raise

    # ---- information ----

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self.state_dict()["epoch"]

    def stats(self) -> Dict[str, Any]:
        """The counts of echoline_cuda_stats, since the device was opened. `path`: how the GPU reads the ring."""
        counted = self._device.stats()
        counted["path"] = _PATHS[counted["path"]]
        return counted

    def __getattr__(self, name: str) -> Any:
        if name == "skip":
            raise AttributeError("skip: not on a GPU; skip on a loader on the host, and load its state here")
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    # ---- end ----

    def close(self) -> None:
        """Stops copying and detaches. A wait in another thread ends with an error. Batches that you keep stay valid."""
        _open_loaders.discard(self)
        if "_device" in vars(self):
            self._device.close()
        self._loader.close()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Loader({self._loader.stream!r}, job={self._loader.job!r}, echo factor {self._factor})"
