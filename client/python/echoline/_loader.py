"""A trainer's loader: one epoch a loop."""
from __future__ import annotations

import json
import logging
import os
import re
import weakref
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from ._batch import Batch, Field, FieldSpec, numpy_dtype, value_maker
from ._errors import InvalidArgument
from ._library import native

_JOIN = {"start": 1, "current": 2, "next_epoch": 3}
_UNITS_MS = {"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}


_LONGEST_MS = 10 ** 12


def milliseconds(time: Union[str, int, float]) -> int:
    """"60s", "500ms", "2min", or a number of seconds."""
    found = -1.0
    if isinstance(time, (int, float)) and not isinstance(time, bool):
        found = time * 1000.0
    elif match := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h)\s*", str(time)):
        found = float(match.group(1)) * _UNITS_MS[match.group(2)]
    if not 0 <= found <= _LONGEST_MS:
        raise InvalidArgument(f"reattach must be a time such as '60s', '500ms' or '2min', not {time!r}")
    return round(found)


def check_count(name: str, value: int, least: int) -> None:
    if not least <= value < 2 ** 32:
        raise InvalidArgument(f"{name} must be {least} to {2 ** 32 - 1}, not {value}")


def _local_world_size(world_size: int) -> int:
    """What a launcher such as torchrun says, if it speaks of the same ranks; 0 if nobody does."""
    if os.environ.get("WORLD_SIZE") != str(world_size):
        return 0
    local = os.environ.get("LOCAL_WORLD_SIZE", "")
    return int(local) if local.isdigit() else 0


_log = logging.getLogger("echoline")
# Loaders of this process, for a private daemon that ends.
_living: "weakref.WeakSet[Loader]" = weakref.WeakSet()


def close_loaders(runtime_dir: str) -> None:
    """Closes the loaders that were attached in that folder."""
    for loader in list(_living):
        if loader.runtime_dir == runtime_dir:
            loader.close()


class Loader(native.Loader):
    """Attaches to a stream of this host's daemon; every `for` over it is one epoch of read-only batches.

    `job`, `rank`, `world_size`: jobs with different names share one preparation of every batch; the ranks of a job
    get its parts. `batch_size` is that of all ranks together (None: the stream's). `join`: "start", "current" or
    "next_epoch". `reattach`: how long a daemon that went away is waited for; "0s" makes its loss an error within a
    second. `runtime_dir`: where the daemon's door is; else ECHOLINE_RUNTIME_DIR, else the host's default. `state`: go
    on where `state_dict()` was taken. `expect`: the fingerprint that the stream must have. `local_world_size`: how
    many of the job's ranks are on this host, for which its first batches are kept; else LOCAL_WORLD_SIZE, if
    WORLD_SIZE is `world_size` (torchrun sets both); else the daemon waits up to 30 s for all of them.

    What happens to other ranks of the job is told as warnings of the logger "echoline".

    A `break` abandons the rest of the epoch, the next `for` begins the next one; all ranks must do the same. Threads
    may share a loader by `next()`, each gets different batches; a `for` is for one thread at a time. Another process,
    forked or spawned, makes a loader of its own. Raises Error and its kinds.
    """

    def __init__(self, stream: str, job: str = "default", rank: int = 0, world_size: int = 1,
                 batch_size: Optional[int] = None, join: str = "start", reattach: Union[str, int, float] = "60s",
                 runtime_dir: Union[str, "os.PathLike[str]", None] = None, *,
                 state: Optional[Mapping[str, Any]] = None, expect: Optional[str] = None,
                 local_world_size: Optional[int] = None) -> None:
        if isinstance(state, (str, bytes)):
            raise InvalidArgument("state is what state_dict() gave, not its text: use json.loads(text)")
        if join not in _JOIN:
            raise InvalidArgument(f"join must be one of {', '.join(_JOIN)}, not {join!r}")
        for name, value, least in (("rank", rank, 0), ("world_size", world_size, 1), ("batch_size", batch_size, 1),
                                   ("local_world_size", local_world_size, 1)):
            if value is not None:
                check_count(name, value, least)
        self.stream, self.job = stream, job
        self.runtime_dir = os.fspath(runtime_dir) if runtime_dir is not None else native.runtime_dir()
        self.rank, self.world_size = rank, world_size
        if local_world_size is None:
            local_world_size = _local_world_size(world_size)
        self._options = (stream, job, os.fsencode(self.runtime_dir), rank, world_size, local_world_size,
                         batch_size or 0, _JOIN[join], milliseconds(reattach), expect or None)
        self._batch_type = Batch
        self._attach_at(state)

    def _attach_at(self, state: Optional[Mapping[str, Any]]) -> None:
        try:
            self._attach(*self._options, None if state is None else json.dumps(state))
            self._fields = self._read_fields()
        except BaseException:
            self.close()
            raise
        _living.add(self)

    @property
    def bfloat16_fields(self) -> Tuple[str, ...]:
        """Fields whose elements are bfloat16, which numpy by itself shows as their bits."""
        return self._bfloat16

    def _read_fields(self) -> Dict[str, Field]:
        fields = {}
        self._bfloat16: Tuple[str, ...] = ()
        for index in range(self._info()["field_count"]):
            name, dtype, shape, ragged = self._field(index)
            spec = FieldSpec(name, numpy_dtype(dtype), shape, ragged)
            fields[name] = (index, spec, value_maker(spec))
            if dtype == "bfloat16":
                self._bfloat16 += (name,)
        return fields

    # ---- batches ----

    def _hear(self, news: str) -> None:
        _log.warning("stream %s: %s", self.stream, news)

    def skip(self, steps: int) -> None:
        """Leaves out that many batches, across epochs."""
        if steps < 0:
            raise InvalidArgument(f"can't skip {steps} steps")
        self._skip(steps)

    # ---- state ----

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned: small, JSON-able."""
        return json.loads(self._state())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on with exactly the batch after the state, also with another world size or batch size.

        A state of other data, another pipeline or seed is refused; then the loader is closed.
        """
        state = dict(state_dict)
        if not self._began and self in _living and state == self.state_dict():
            return
        self.close()
        self._attach_at(state)

    # ---- facts ----

    @property
    def fields(self) -> Dict[str, FieldSpec]:
        """Name, dtype and shape of one row of every field."""
        return {name: spec for name, (_, spec, _) in self._fields.items()}

    @property
    def batch_size(self) -> int:
        """Rows of a batch, of all ranks together."""
        return self._info()["batch_size"]

    @property
    def fresh_per_epoch(self) -> int:
        """Distinct records of an epoch, of all ranks together."""
        return self._info()["records_per_epoch"]

    @property
    def rows_per_epoch(self) -> int:
        return self._info()["rows_per_epoch"]

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self._info()["epoch"]

    @property
    def fingerprint(self) -> str:
        """Of the data, their order and their values; equal on all hosts of a job."""
        return self._info()["fingerprint"]

    # ---- end ----

    def close(self) -> None:
        """Detaches; a wait in another thread ends with an error. Batches that are kept stay valid."""
        _living.discard(self)
        self._close()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Loader({self.stream!r}, job={self.job!r}, rank={self.rank}, world_size={self.world_size})"
