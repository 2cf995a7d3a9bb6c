"""A trainer's loader: one epoch a loop."""
from __future__ import annotations

import ctypes
import json
import os
import re
import weakref
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

from . import _library
from ._batch import Batch, FieldSpec, numpy_dtype
from ._errors import Error, InvalidArgument
from ._library import AttachOptions, Field, LoaderInfo, lib

_JOIN = {"start": 1, "current": 2, "next_epoch": 3}
_UNITS_MS = {"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}
# How long a call stays in the library: Ctrl-C is served in between.
_SLICE_MS = 50
_ASYNC_OVERLAP = 1 | 2


def milliseconds(time: Union[str, int, float]) -> int:
    """"60s", "500ms", "2min", or a number of seconds."""
    if isinstance(time, (int, float)) and not isinstance(time, bool) and time >= 0:
        return round(time * 1000)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h)\s*", str(time))
    if not match:
        raise InvalidArgument(f"reattach must be a time such as '60s', '500ms' or '2min', not {time!r}")
    return round(float(match.group(1)) * _UNITS_MS[match.group(2)])


def _default_runtime_dir() -> str:
    buffer = ctypes.create_string_buffer(4096)
    lib.echoline_runtime_dir(buffer, len(buffer))
    return os.fsdecode(buffer.value)


class _Handle(_library.Owned):
    """Owns a loader of the C library: it lives as long as any call on it runs."""

    __slots__ = ()

    def __del__(self, _detach=lib.echoline_detach) -> None:
        _detach(self.pointer)


# Loaders of this process, for a private daemon that ends.
_living: "weakref.WeakSet[Loader]" = weakref.WeakSet()


def close_loaders(runtime_dir: str) -> None:
    """Closes the loaders that were attached in that folder."""
    for loader in list(_living):
        if loader.runtime_dir == runtime_dir:
            loader.close()


class Loader:
    """Attaches to a stream of this host's daemon; every `for` over it is one epoch of read-only batches.

    `job`, `rank`, `world_size`: jobs with different names share one preparation of every batch; the ranks of a job
    get its parts. `batch_size` is that of all ranks together (None: the stream's). `join`: "start", "current" or
    "next_epoch". `reattach`: how long a daemon that went away is waited for; "0s" makes its loss an error within a
    second. `runtime_dir`: where the daemon's door is; else ECHOLINE_RUNTIME_DIR, else the host's default. `state`: go
    on where `state_dict()` was taken. `expect`: the fingerprint that the stream must have.

    A `break` abandons the rest of the epoch, the next `for` begins the next one; all ranks must do the same. Any
    thread may take batches, each gets different ones. Another process, forked or spawned, makes a loader of its own.
    Raises Error and its kinds.
    """

    def __init__(self, stream: str, job: str = "default", rank: int = 0, world_size: int = 1,
                 batch_size: Optional[int] = None, join: str = "start", reattach: Union[str, int, float] = "60s",
                 runtime_dir: Union[str, "os.PathLike[str]", None] = None, *,
                 state: Optional[Mapping[str, Any]] = None, expect: Optional[str] = None) -> None:
        self._handle: Optional[_Handle] = None
        if join not in _JOIN:
            raise InvalidArgument(f"join must be one of {', '.join(_JOIN)}, not {join!r}")
        if batch_size is not None and batch_size < 1:
            raise InvalidArgument(f"batch_size must be at least 1, not {batch_size}")
        if rank < 0 or world_size < 1:
            raise InvalidArgument(f"rank {rank} of world_size {world_size} is not possible")
        self.stream, self.job = stream, job
        self.runtime_dir = os.fspath(runtime_dir) if runtime_dir is not None else _default_runtime_dir()
        self._options = {"stream": stream.encode(), "job": job.encode(), "rank": rank, "world_size": world_size,
                         "batch_size": batch_size or 0, "join": _JOIN[join], "reattach_ms": milliseconds(reattach),
                         "runtime_dir": os.fsencode(self.runtime_dir),
                         "expect": expect.encode() if expect else None}
        self._attach(state)

    def _attach(self, state: Optional[Mapping[str, Any]]) -> None:
        options = AttachOptions()
        lib.echoline_attach_options_init(ctypes.byref(options), ctypes.sizeof(options))
        for name, value in self._options.items():
            setattr(options, name, value)
        options.state = json.dumps(state).encode() if state is not None else None
        options.flags = _ASYNC_OVERLAP
        handle = ctypes.c_void_p()
        _library.check(lib.echoline_attach(ctypes.byref(options), ctypes.byref(handle)))
        self._handle = _Handle(handle.value)
        self._began = False
        try:
            while (status := lib.echoline_attach_wait(handle.value, _SLICE_MS)) == _library.TIMEOUT:
                pass
            _library.check(status)
            self._fields = self._read_fields()
        except BaseException:
            self.close()
            raise
        _living.add(self)

    @property
    def bfloat16_fields(self) -> Tuple[str, ...]:
        """Fields whose elements are bfloat16, which numpy by itself shows as their bits."""
        return self._bfloat16

    def _read_fields(self) -> Dict[str, Tuple[int, FieldSpec]]:
        fields = {}
        self._bfloat16: Tuple[str, ...] = ()
        handle = self._open()
        for index in range(self._info().field_count):
            field = _library.filled(Field, lib.echoline_loader_get_field, handle.pointer, index)
            spec = FieldSpec(field.name.decode(), numpy_dtype(field.dtype), tuple(field.shape[:field.rank]),
                             bool(field.ragged))
            fields[spec.name] = (index, spec)
            if lib.echoline_dtype_name(field.dtype) == b"bfloat16":
                self._bfloat16 += (spec.name,)
        return fields

    def _open(self) -> _Handle:
        if self._handle is None:
            raise Error("the loader is closed", 1)
        return self._handle

    def _info(self) -> LoaderInfo:
        handle = self._open()
        return _library.filled(LoaderInfo, lib.echoline_loader_get_info, handle.pointer)

    # ---- batches ----

    def __iter__(self) -> Iterator[Batch]:
        handle = self._open()
        _library.check(lib.echoline_begin_epoch(handle.pointer))
        return _Epoch(self)

    def next(self, timeout: Optional[float] = None) -> Optional[Batch]:
        """The next batch; None at an epoch's end, after which the next call goes on with the next epoch.

        TimeoutError if none was ready within `timeout` seconds.
        """
        made = ctypes.c_void_p()
        handle = self._open()
        if timeout is None:
            while (status := lib.echoline_next(handle.pointer, _SLICE_MS, ctypes.byref(made))) == _library.TIMEOUT:
                pass
        else:
            status = self._next_within(handle, made, timeout)
        if status == _library.OK:
            self._began = True
            return Batch(made.value, self._fields)
        if status == _library.END_OF_EPOCH:
            return None
        if status == _library.TIMEOUT:
            raise TimeoutError(f"no batch of {self.stream} was ready within {timeout} s")
        return _library.raise_status(status)

    @staticmethod
    def _next_within(handle: _Handle, made: ctypes.c_void_p, timeout: float) -> int:
        left = max(0, round(timeout * 1000))
        while True:
            status = lib.echoline_next(handle.pointer, min(left, _SLICE_MS), ctypes.byref(made))
            left -= _SLICE_MS
            if status != _library.TIMEOUT or left <= 0:
                return status

    def skip(self, steps: int) -> None:
        """Leaves out that many batches, across epochs."""
        if steps < 0:
            raise InvalidArgument(f"can't skip {steps} steps")
        handle = self._open()
        _library.check(lib.echoline_skip(handle.pointer, steps))
        self._began = True

    def __len__(self) -> int:
        """The exact number of batches of an epoch; TypeError where the echo factor can change."""
        steps = ctypes.c_uint64()
        handle = self._open()
        status = lib.echoline_steps_per_epoch(handle.pointer, ctypes.byref(steps))
        if status == 5:
            raise TypeError(lib.echoline_last_error().decode())
        _library.check(status)
        return steps.value

    # ---- state ----

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned: small, JSON-able."""
        buffer = ctypes.create_string_buffer(8192)
        length = ctypes.c_size_t()
        handle = self._open()
        _library.check(lib.echoline_state(handle.pointer, buffer, len(buffer), ctypes.byref(length)))
        return json.loads(buffer.raw[:length.value])

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on with exactly the batch after the state, also with another world size or batch size.

        A state of other data, another pipeline or seed is refused; then the loader is closed.
        """
        state = dict(state_dict)
        if not self._began and self in _living and state == self.state_dict():
            return
        self.close()
        self._attach(state)

    # ---- facts ----

    @property
    def fields(self) -> Dict[str, FieldSpec]:
        """Name, dtype and shape of one row of every field."""
        return {name: spec for name, (_, spec) in self._fields.items()}

    @property
    def batch_size(self) -> int:
        """Rows of a batch, of all ranks together."""
        return self._info().batch_size

    @property
    def fresh_per_epoch(self) -> int:
        """Distinct records of an epoch, of all ranks together."""
        return self._info().records_per_epoch

    @property
    def rows_per_epoch(self) -> int:
        return self._info().rows_per_epoch

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self._info().epoch

    @property
    def rank(self) -> int:
        return self._options["rank"]

    @property
    def world_size(self) -> int:
        return self._options["world_size"]

    @property
    def fingerprint(self) -> str:
        """Of the data, their order and their values; equal on all hosts of a job."""
        return self._info().fingerprint.decode()

    # ---- end ----

    def close(self) -> None:
        """Detaches; a wait in another thread ends with an error. Batches that are kept stay valid."""
        _living.discard(self)
        handle = self._handle
        if handle is not None:
            lib.echoline_close(handle.pointer)

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Loader({self.stream!r}, job={self.job!r}, rank={self.rank}, world_size={self.world_size})"


class _Epoch:
    """The iterator of one `for`."""

    __slots__ = ("_loader", "_over")

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._over = False

    def __iter__(self) -> "_Epoch":
        return self

    def __next__(self) -> Batch:
        batch = None if self._over else self._loader.next()
        if batch is None:
            self._over = True
            raise StopIteration
        return batch
