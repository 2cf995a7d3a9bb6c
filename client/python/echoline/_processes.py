"""What the kernel tells about a daemon: its sockets and its process."""
from __future__ import annotations

import os
import pathlib
import socket
import struct

from ._errors import Error


def refuse_in_worker() -> None:
    """Raises Error while a worker of a pipeline loads a file of the user's: it would wait for itself."""
    pid, _, file = os.environ.get("ECHOLINE_WORKER_LOADS", "").partition(" ")
    if pid == str(os.getpid()):  # not a process that the file started, and that inherited the variable
        raise Error(f"a worker loads {file} for a function or data set in it, and must not run the rest: put that below "
                    '`if __name__ == "__main__":`, or the function or data set into a file of its own')


def answers(path: pathlib.Path, kind: int) -> bool:
    """Whether a process listens at the socket. A daemon that was killed leaves the file behind."""
    with socket.socket(socket.AF_UNIX, kind) as client:
        client.settimeout(1)
        try:
            client.connect(os.fspath(path))
        except BlockingIOError:  # it listens, and many connect at the same time
            return True
        except OSError:
            return False
        return True


def pid_behind(path: pathlib.Path) -> int:
    """The process that listens at the socket; 0 if there is none, or if it is out of sight in another container."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(os.fspath(path))
            peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:
            return 0
        return int(struct.unpack("3i", peer)[0])


def runs(pid: int) -> bool:
    """Whether the process exists and has not ended; a child that ended exists until its parent asks."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
