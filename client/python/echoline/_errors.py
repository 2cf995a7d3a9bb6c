"""What can go wrong, as exceptions."""
from __future__ import annotations

from typing import Any, Dict, Optional, Type


class Error(RuntimeError):
    """Any failure of the library. `status` is its number in echoline.h."""

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
    """An argument that cannot be right."""


class NotFound(Error, status=2):
    """No daemon there, or no such stream."""


class FailedPrecondition(Error, status=5):
    """A state of another data set, pipeline or seed."""


class LeaseHeld(Error, status=102):
    """The trainer itself holds every slot: `batch.copy()` what is kept, let go of it, or raise `publish.slots`."""


class DaemonGone(Error, status=103):
    """The daemon went away and did not come back within the reattach time."""


class Detached(Error, status=104):
    """The daemon took this trainer off; the text says why."""


class Forked(Error, status=105):
    """The loader belongs to the parent process: make one in the child itself."""


class VersionMismatch(Error, status=106):
    """Daemon and library do not speak the same layout or protocol."""


def error_of(status: int, name: str, text: str) -> Error:
    """The exception for a status number of the C ABI."""
    kind = _by_status.get(status, Error)
    return kind(f"{name}: {text}" if text else name, status)
