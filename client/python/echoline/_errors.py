"""What can go wrong, as exceptions."""


class Error(RuntimeError):
    """Any failure of the library. `status` is its number in echoline.h."""

    status: int = 12

    def __init__(self, text: str, status: "int | None" = None) -> None:
        super().__init__(text)
        if status is not None:
            self.status = status


class InvalidArgument(Error, ValueError):
    """An argument that cannot be right."""

    status = 1


class NotFound(Error):
    """No daemon there, or no such stream."""

    status = 2


class FailedPrecondition(Error):
    """A state of another data set, pipeline or seed."""

    status = 5


class LeaseHeld(Error):
    """The trainer itself holds every slot: `batch.copy()` what is kept, let go of it, or raise `publish.slots`."""

    status = 102


class DaemonGone(Error):
    """The daemon went away and did not come back within the reattach time."""

    status = 103


class Detached(Error):
    """The daemon took this trainer off; the text says why."""

    status = 104


class Forked(Error):
    """The loader belongs to the parent process: make one in the child itself."""

    status = 105


class VersionMismatch(Error):
    """Daemon and library do not speak the same layout or protocol."""

    status = 106


_BY_STATUS = {kind.status: kind for kind in (InvalidArgument, NotFound, FailedPrecondition, LeaseHeld, DaemonGone,
                                             Detached, Forked, VersionMismatch)}


def error_of(status: int, name: str, text: str) -> Error:
    """The exception for a status number of the C ABI."""
    kind = _BY_STATUS.get(status, Error)
    return kind(f"{name}: {text}" if text else name, status)
