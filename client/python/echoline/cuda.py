"""Batches on an NVIDIA GPU, for every library that reads DLPack or CUDA's array interface (CuPy, Numba, ...).

    loader = echoline.cuda.Loader("train", device=0, transforms={"image": echoline.cuda.Normalize(dtype="float16")})
    for batch in loader:
        image = cupy.from_dlpack(batch["image"])

Nothing of CUDA is needed to import it; a Loader finds the driver (libcuda.so.1) when it is made, and says so where there
is none. `echoline.torch.Loader(device="cuda")` and `echoline.jax.Loader` stand on it.
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
from ._errors import InvalidArgument, LeaseHeld
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
_SHORT = 0.0005  # seconds


class Normalize(NamedTuple):
    """uint8 pixels of rows [height, width, channels] become (pixel / 255 - mean) / std, as torchvision's Normalize.

    `mean` and `std`: a number, or one for each channel. `dtype`: float32, float16 or bfloat16, by name or as a type of
    torch, JAX or numpy. `layout`: "chw", "hwc", or "channels_last": hwc in memory, which torch shows as chw. `flip`: each
    use of a row is mirrored left to right or not, the same in every run.
    """

    mean: Union[float, Sequence[float]] = 0.0
    std: Union[float, Sequence[float]] = 1.0
    dtype: Any = "float32"
    layout: str = "chw"
    flip: bool = False


class Flip(NamedTuple):
    """Each use of a row is mirrored left to right or not; type and layout stay."""


class Ragged(NamedTuple):
    """Rows of different length: all values, and where rows begin and end in them: uint64 [rows + 1], in bytes."""

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


def _wish(spec: FieldSpec, transform: Union[Normalize, Flip]) -> Tuple[Any, ...]:
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


def _wishes(fields: Mapping[str, FieldSpec], transforms: Mapping[str, Any], pad: Mapping[str, float]) -> List[Any]:
    for name in (*transforms, *pad):
        if name not in fields:
            raise InvalidArgument(f"no field {name!r}; there are: {', '.join(fields)}")
    both = set(transforms) & set(pad)
    if both:
        raise InvalidArgument(f"{', '.join(sorted(both))}: a field is either padded or transformed")
    return ([_wish(fields[name], transform) for name, transform in transforms.items()] +
            [(name, 0, 0, False, True, float(fill), (), ()) for name, fill in pad.items()])


class Batch(native.DeviceBatch, AnyBatch):
    """One rank's rows of one batch: a mapping from field names to `Tensor`s, or to `Ragged` of two.

    The memory is the loader's. It is given back when the batch and all that was made from it are gone, on the stream that
    the batch was taken for: what other streams do with it must be joined to that one before. Under device echo others will
    be given the same memory, so nobody may write to it.
    """

    __slots__ = ()

    device: int  # the ordinal

    def __getitem__(self, name: str) -> Any:
        if name not in self._fields:
            raise KeyError(f"no field {name!r}; there are: {', '.join(self._fields)}")
        found = self._tensor(self._fields[name])
        return Ragged(*found) if isinstance(found, tuple) else found

    @property
    def sample_ids(self) -> np.ndarray:
        """uint64 [rows], on the host: each record's place in the index."""
        return np.frombuffer(self._sample_ids(), np.uint64)

    @property
    def uses(self) -> np.ndarray:
        """uint32 [rows], on the host: which use of its record in this epoch a row is, from 0; device echo counts."""
        return np.frombuffer(self._uses(), np.uint32)

    @property
    def flags(self) -> np.ndarray:
        """uint32 [rows], on the host: 1 for a repeat that fills up, 2 for a row that stands in for a bad record."""
        return np.frombuffer(self._flags(), np.uint32)

    def __repr__(self) -> str:
        return (f"Batch(epoch {self.epoch}, step {self.step}, {self.rows} rows of {', '.join(self._fields)} "
                f"on GPU {self.device})")


# The driver ends with the process, and must not find copies under way.
_living: "weakref.WeakSet[Loader]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for loader in list(_living):
        loader.close()


def _echo(echo: Any) -> Tuple[int, int]:
    both = (echo, 1) if isinstance(echo, int) else echo
    if not isinstance(both, (tuple, list)) or len(both) != 2 or not all(isinstance(one, int) and one > 0 for one in both):
        raise InvalidArgument(f"echo is a whole factor or (factor, window), not {echo!r}")
    return both[0], both[1]


class Loader:
    """Every `for` is one epoch of batches on a GPU; arguments not named here are those of echoline.Loader.

    `device`: ordinal, as the CUDA driver counts. `depth`: batches on the device that are on their way, ready or in the
    trainer's hands; a `for` holds up to two of them. `echo`: (factor, window), device echo: each batch is given `factor`
    times, in turn among `window` kept ones; or the factor alone, and a batch's uses come back to back. `transforms`: by
    field a Normalize or Flip. `pad`: by ragged field the value that fills up its rows to one tensor. `cuda_stream`: the
    handle of the stream that batches are for, or a function that gives it at each; 0: the legacy default stream.
    """

    # For how many seconds buffers are waited for that a library holds longer than its arrays live.
    _patience = 0.0

    def __init__(self, stream: str, *args: Any, device: int = 0, depth: int = 3,
                 echo: Union[int, Tuple[int, int]] = 1, transforms: Optional[Mapping[str, Any]] = None,
                 pad: Optional[Mapping[str, float]] = None, cuda_stream: Union[int, Callable[[], int]] = 0,
                 **kwargs: Any) -> None:
        if not isinstance(device, int):
            raise InvalidArgument(f"device is an ordinal such as 0 here, not {device!r}; names are for echoline.torch and "
                                  "echoline.jax")
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
            self._options = (device, depth, self._factor, window, _wishes(self._loader.fields, transforms, dict(pad or {})))
            self._open()
        except BaseException:
            self._loader.close()
            raise
        _living.add(self)

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
        """Batches of an epoch, exact: the stream's times the factor of device echo."""
        return len(self._loader) * self._factor

    def next(self, timeout: Optional[float] = None) -> Optional[Batch]:
        """The next batch; None at an epoch's end; TimeoutError if none was ready within `timeout` seconds."""
        patience = self._patience if timeout is None else min(self._patience, timeout)
        patient_until = time.monotonic() + patience
        while True:
            try:
                batch = self._device.next(self._stream_of(), timeout)
            except LeaseHeld:
                if time.monotonic() >= patient_until:
                    raise
                time.sleep(_SHORT)
            else:
                self._began = True
                return batch

    # ---- state ----

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned, device echo included: small, JSON-able."""
        return json.loads(self._device.state())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on with exactly the use after the state, which must be of the same device echo; opens the device anew."""
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

    # ---- facts ----

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self.state_dict()["epoch"]

    def stats(self) -> Dict[str, Any]:
        """Counted since the device was opened, as echoline_cuda_stats has them; path: how the GPU reads the ring."""
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
        """Stops copies and detaches; a wait in another thread ends with an error. Batches that are kept stay valid."""
        _living.discard(self)
        if "_device" in vars(self):
            self._device.close()
        self._loader.close()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Loader({self._loader.stream!r}, job={self._loader.job!r}, echo factor {self._factor})"
