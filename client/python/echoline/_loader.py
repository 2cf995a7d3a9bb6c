"""The loader of a trainer: each `for` loop is one epoch."""
from __future__ import annotations

import functools
import json
import logging
import os
import pathlib
import re
import socket
import sys
import time
import weakref
from typing import Any, Dict, Mapping, Optional, Tuple, Union, cast

import numpy as np

from ._batch import Batch, Field, FieldSpec, describe, numpy_dtype, value_maker
from ._configuration import Configuration, configuration_first, is_configuration
from ._errors import Error, FailedPrecondition, InvalidArgument, NotFound
from ._guard import guard
from ._library import native
from ._private import PrivateDaemon
from ._processes import answers

_JOIN = {"start": 1, "current": 2, "next_epoch": 3}
_UNITS_MS = {"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}


_LONGEST_MS = 10 ** 12
_PRIVATE_WAIT = "1h"
_UNAVAILABLE, _DATA_LOSS = 7, 10  # echoline_status


def milliseconds(name: str, value: Union[str, int, float]) -> int:
    """Converts "60s", "500ms", "2min", or a number of seconds."""
    found = -1.0
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found = value * 1000.0
    elif match := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h)\s*", str(value)):
        found = float(match.group(1)) * _UNITS_MS[match.group(2)]
    if not 0 <= found <= _LONGEST_MS:
        raise InvalidArgument(f"{name} must be a time such as '60s', '500ms' or '2min', not {value!r}")
    return round(found)


def check_count(name: str, value: int, least: int) -> None:
    if not least <= value < 2 ** 32:
        raise InvalidArgument(f"{name} must be {least} to {2 ** 32 - 1}, not {value}")


def _local_world_size(world_size: int) -> int:
    """What a launcher such as torchrun has set, if it is for the same ranks; else 0."""
    if os.environ.get("WORLD_SIZE") != str(world_size):
        return 0
    local = os.environ.get("LOCAL_WORLD_SIZE", "")
    return int(local) if local.isdigit() else 0


_log = logging.getLogger("echoline")
# Open loaders of this process: a private daemon closes those attached to it before it stops.
_open_loaders: "weakref.WeakSet[Loader]" = weakref.WeakSet()


def close_loaders(runtime_dir: str) -> None:
    """Closes the loaders that are attached to the daemon in that folder."""
    for loader in list(_open_loaders):
        if loader.runtime_dir == runtime_dir:
            loader.close()


def _in_use(runtime_dir: str) -> bool:
    return any(loader.runtime_dir == runtime_dir for loader in list(_open_loaders))


class _Progress:
    """Says on stderr, after two seconds and then every ten, what a loader waits for."""

    def __init__(self, stream: str, silent: bool) -> None:
        self._stream, self._silent = stream, silent
        self._next = time.monotonic() + 2

    def __call__(self, what: str) -> None:
        if not self._silent and time.monotonic() >= self._next:
            self._next = time.monotonic() + 10
            print(f"echoline: {self._stream} is not ready yet: {what}", file=sys.stderr, flush=True)


class Loader(native.Loader):
    """Attaches to a stream of a daemon of this host. Each `for` loop over it is one epoch of read-only batches.

    Loader("train") attaches to the running daemon. Loader("pipeline.yaml", "train") and Loader([steps.read(...), ...])
    attach to a private daemon with this configuration. The first one starts it; all processes of this user with the
    same configuration and working folder share it; it ends a minute after the last one has gone.

    `job`, `rank`, `world_size`: jobs with different names share the preparation of batches; each rank of a job gets
    its part of a batch.
    `batch_size`: rows of all ranks together (None: the stream's).
    `join`: where to begin: "start", "current" or "next_epoch".
    `reattach`: how long calls wait for a daemon that went away; with "0s" its loss is an error within a second.
    `runtime_dir`: the folder of the daemon's sockets; default: ECHOLINE_RUNTIME_DIR, else the host's default.
    `state`: continue where `state_dict()` was called.
    `expect`: the fingerprint that the stream must have.
    `local_world_size`: number of the job's ranks on this host; the daemon keeps the first batches until all of them
    have attached. Default: LOCAL_WORLD_SIZE if WORLD_SIZE is `world_size` (torchrun sets both); else the daemon waits
    up to 30 s for more ranks.
    `config`: same as a configuration as the first argument.
    `wait`: how long to wait for a daemon that is starting or indexing. Default: an hour for a private daemon, else "0s".
    `writable`: batches are copies, which you can write to and keep. They hold no slot.

    Messages of the daemon about other ranks of the job are warnings of the logger "echoline".

    After a `break` the next `for` begins the next epoch; all ranks must break at the same step. Several threads may
    share a loader through `next()`, and get different batches; a `for` loop is for one thread. Another process, forked
    or spawned, creates its own loader. Raises Error and its subclasses.
    """

    def __new__(cls, *arguments: Any, writable: bool = False, config: Optional[Configuration] = None,
                **_: Any) -> "Loader":
        special = writable or config is not None or is_configuration(next(iter(arguments), None))
        return super().__new__(SpecialLoader if special and cls is Loader else cls)

    @configuration_first
    def __init__(self, stream: Union[str, Configuration], job: str = "default", rank: int = 0, world_size: int = 1,
                 batch_size: Optional[int] = None, join: str = "start", reattach: Union[str, int, float] = "60s",
                 runtime_dir: Union[str, "os.PathLike[str]", None] = None, *,
                 state: Optional[Mapping[str, Any]] = None, expect: Optional[str] = None,
                 local_world_size: Optional[int] = None, config: Optional[Configuration] = None,
                 wait: Union[str, int, float, None] = None, writable: bool = False) -> None:
        if isinstance(state, (str, bytes)):
            raise InvalidArgument("state is the dict from state_dict(), not its text: use json.loads(text)")
        if join not in _JOIN:
            raise InvalidArgument(f"join must be one of {', '.join(_JOIN)}, not {join!r}")
        for name, value, least in (("rank", rank, 0), ("world_size", world_size, 1), ("batch_size", batch_size, 1),
                                   ("local_world_size", local_world_size, 1)):
            if value is not None:
                check_count(name, value, least)
        self.stream, self.job = cast(str, stream), job  # configuration_first has moved a configuration
        self._private, self._writable, self._daemon_pid, self._renewed = None, writable, 0, False
        if config is not None:
            if runtime_dir is not None:
                raise InvalidArgument("a configuration starts a daemon, runtime_dir names one that runs: give one of both")
            self._private = PrivateDaemon(config, self.stream)
            runtime_dir = self._private.folder
            wait = _PRIVATE_WAIT if wait is None else wait
        self._wait_seconds = milliseconds("wait", wait or 0) / 1000
        self.runtime_dir = os.fspath(runtime_dir) if runtime_dir is not None else native.runtime_dir()
        self.rank, self.world_size = rank, world_size
        if local_world_size is None:
            local_world_size = _local_world_size(world_size)
        self._options = (self.stream, job, os.fsencode(self.runtime_dir), rank, world_size, local_world_size,
                         batch_size or 0, _JOIN[join], milliseconds("reattach", reattach), expect or None)
        self._batch_type = Batch
        self._attach_at(state)

    def _attach_at(self, state: Optional[Mapping[str, Any]]) -> None:
        self._first_state = state
        try:
            self._attach_when_ready(None if state is None else json.dumps(state))
            self._fields = self._read_fields()
        except BaseException:
            self.close()
            raise
        _open_loaders.add(self)
        if self._private is not None:
            guard(self._private, functools.partial(_in_use, self.runtime_dir))
            if self._private.take_start():
                print(f"echoline: started a private daemon for {self.stream}; its log is {self._private.log_path}; "
                      f"to watch it: {self._private.how_to_watch()}", file=sys.stderr, flush=True)

    def _attach_when_ready(self, state: Optional[str]) -> None:
        deadline = time.monotonic() + self._wait_seconds
        progress = _Progress(self.stream, silent=self.rank != 0)
        while True:
            if self._private is not None:
                self._private.ensure_running()
                if not self._private.await_ready(deadline, progress):
                    continue
                self._daemon_pid = self._private.pid()
            try:
                return self._attach(*self._options, state)
            except Error as error:
                if self._may_be_stale(error) and self._stop_stale_daemon():
                    continue
                # A private daemon may have ended between the two calls.
                if time.monotonic() >= deadline or not self._may_pass(error):
                    raise
                if self._private is not None:
                    self._private.may_start_again()
                progress(str(error))
            time.sleep(0.1)

    def _may_be_stale(self, error: Error) -> bool:
        """Whether the error may be of data or code as they were when the private daemon started."""
        if isinstance(error, FailedPrecondition):
            return True
        # Bad records end a stream for good. If this loader has just started the daemon, they are bad now.
        is_of_data = isinstance(error, InvalidArgument) or error.status == _DATA_LOSS
        return is_of_data and self._private is not None and not self._private.has_started

    def _stop_stale_daemon(self) -> bool:
        """Stops a private daemon that nobody else uses, once: the data may have changed since it indexed them."""
        if self._private is None or self._renewed:
            return False
        self._renewed = True
        return self._private.stop_unused(self._daemon_pid)

    def _renew(self) -> bool:
        """Attaches to a new private daemon after an error before the first batch. False if there is none."""
        if self._private is None or self._renewed:
            return False
        self.close()
        if not self._stop_stale_daemon():
            return False
        self._attach_at(self._first_state)
        return True

    def _may_pass(self, error: Error) -> bool:
        """Whether the daemon is starting, ending, or not there yet; NotFound is also an unknown stream."""
        door = pathlib.Path(self.runtime_dir) / "door.sock"
        return error.status == _UNAVAILABLE or (isinstance(error, NotFound) and
                                                not answers(door, socket.SOCK_SEQPACKET))

    @property
    def bfloat16_fields(self) -> Tuple[str, ...]:
        """Fields of type bfloat16, which plain numpy shows as uint16 (their bits)."""
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

    def _log_news(self, news: str) -> None:
        where = "" if self._private is None else f"; the log of its daemon is {self._private.log_path}"
        _log.warning("stream %s: %s%s", self.stream, news, where)

    def skip(self, steps: int) -> None:
        """Skips this many batches, across epochs."""
        if steps < 0:
            raise InvalidArgument(f"can't skip {steps} steps")
        self._skip(steps)

    # ---- what a repeat is worth ----

    def report(self, losses: Any, uses: Any) -> int:
        """Gives back one loss for each row, for the daemon's metrics: `echoline show` has their mean for fresh rows,
        second uses and so on. It never changes the order or the echo factor.

        `uses`: of the same rows, from `batch.uses`; take it before the batch is gone. Rows whose loss is not finite are
        left out; returns the number of the others. What is reported while the daemon is away is lost.
        """
        if hasattr(losses, "detach"):  # a tensor of torch, perhaps with a gradient, on a device, or of bfloat16
            losses = losses.detach().float().cpu()
        values, numbers = np.asarray(losses), np.asarray(uses)
        if values.ndim != 1 or values.shape != numbers.shape:
            raise InvalidArgument(f"report needs one loss and one use for each row, not shapes {list(values.shape)} and "
                                  f"{list(numbers.shape)}: use a loss without reduction, and batch.uses")
        if values.size == 0:
            return 0
        if numbers.dtype.kind not in "iu":
            raise InvalidArgument(f"uses are whole numbers, not {numbers.dtype}: the order is report(losses, uses)")
        if values.dtype.kind in "cOSU":  # not those that are no numbers of numpy, as bfloat16
            raise InvalidArgument(f"losses are real numbers, not {values.dtype}")
        if numbers.min() < 0 or numbers.max() >= 2**32:
            raise InvalidArgument(f"uses are those of batch.uses, from 0 on, not {numbers.min()} to {numbers.max()}")
        with np.errstate(over="ignore"):  # not finite as float32: left out
            return self._report(values.astype(np.float32).tobytes(), numbers.astype(np.uint32).tobytes())

    # ---- state ----

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned: small, can be written as JSON."""
        return json.loads(self._state())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues with exactly the batch after the state; world size and batch size may differ.

        A state of other data, another pipeline or another seed raises FailedPrecondition and closes the loader.
        """
        state = dict(state_dict)
        if not self._began and self in _open_loaders and state == self.state_dict():
            return
        self.close()
        self._attach_at(state)

    # ---- information ----

    @property
    def fields(self) -> Dict[str, FieldSpec]:
        """Name, dtype and shape of one row, for every field."""
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
        """Rows of an epoch, of all ranks together, with the initial echo factor."""
        return self._info()["rows_per_epoch"]

    @property
    def last(self) -> str:
        """What happens to the last rows of an epoch: "drop", "partial" or "pad" (batch.last)."""
        return {1: "drop", 2: "partial", 3: "pad"}[self._info()["last"]]

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self._info()["epoch"]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of data, order and values; equal on all hosts of a job."""
        return self._info()["fingerprint"]

    @property
    def seed(self) -> int:
        """The seed of the stream, from which all its draws follow."""
        return self._info()["seed"]

    # ---- end ----

    def close(self) -> None:
        """Detaches. A wait in another thread ends with an error. Batches that you keep stay valid."""
        _open_loaders.discard(self)
        self._close()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        fields = describe(spec for _, spec, _ in self._fields.values()) if self in _open_loaders else "closed"
        return (f"Loader({self.stream!r}, job={self.job!r}, rank={self.rank}, world_size={self.world_size}: {fields})")


class SpecialLoader(Loader):
    """What Loader() creates for a configuration or `writable`: its next() does more than that of the compiled class."""

    def next(self, timeout: Optional[float] = None) -> Optional[Batch]:
        """The next batch, or None at the end of an epoch. TimeoutError: none was ready within `timeout` seconds."""
        try:
            batch = super().next(timeout)
        except FailedPrecondition:
            if self._began or not self._renew():
                raise
            batch = super().next(timeout)
        return batch.copy() if self._writable and batch is not None else batch
