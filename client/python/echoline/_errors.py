"""The exceptions of the package."""
from __future__ import annotations

from typing import Any, Dict, Optional, Type


class Error(RuntimeError):
    """Any failure of the library. `status` is the echoline_status of echoline.h."""

    status: int = 12

    def __init_subclass__(cls, status: Optional[int] = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if status is not None:
            cls.status = status
            _by_status[status] = cls

    def __init__(self, text: str, status: Optional[int] = None) -> None:
        super().__init__(text)
        if status is not None:
            self.status = status


_by_status: Dict[int, Type[Error]] = {}


class InvalidArgument(Error, ValueError, status=1):
    """An invalid argument."""


class NotFound(Error, status=2):
    """No daemon is running there, or it has no such stream."""


class FailedPrecondition(Error, status=5):
    """The state is of another data set, pipeline or seed."""


class LeaseHeld(Error, status=102):
    """The trainer holds all slots: keep only `batch.copy()`, delete batches, or raise `publish.slots`."""


class DaemonGone(Error, status=103):
    """The daemon went away and did not come back within the reattach time."""


class Detached(Error, status=104):
    """The daemon detached this trainer; the text says why."""


class Forked(Error, status=105):
    """The loader belongs to the parent process: create another one in the child."""


class VersionMismatch(Error, status=106):
    """Daemon and library use different layouts or protocols."""


def error_of(status: int, name: str, text: str) -> Error:
    """The exception for a status number of the C ABI."""
    kind = _by_status.get(status, Error)
    return kind(f"{name}: {text}" if text else name, status)
