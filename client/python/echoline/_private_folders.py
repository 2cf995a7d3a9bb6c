"""Where the folders of private daemons are, and how long they are kept."""
from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import stat
from typing import Iterator

from ._errors import Error
from ._processes import answers

# Of folders of daemons that ended; the newest ones are kept for their logs.
_KEPT_FOLDERS = 16
_FILES = ("echoline.yaml", "daemon.log", "daemon.previous.log", "trainers.json", "control.sock", "door.sock",
          "door.sock.lock")


def base_folder() -> pathlib.Path:
    """The folder of all private daemons of this user, which no other user can write to.

    Not in XDG_RUNTIME_DIR: it differs between sessions, and disappears with the last one.
    """
    chosen = os.environ.get("ECHOLINE_PRIVATE_DIR")
    base = pathlib.Path(os.path.abspath(chosen or f"/tmp/echoline-private-{os.geteuid()}"))
    with writes_explained(base):
        base.mkdir(mode=0o700, parents=bool(chosen), exist_ok=True)
        found = os.lstat(base)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise Error(f"{base} is not a folder that only this user can write to; remove it, or set ECHOLINE_PRIVATE_DIR "
                    "to another folder")
    return base


@contextlib.contextmanager
def writes_explained(base: pathlib.Path) -> Iterator[None]:
    """Turns the errors of files, such as those of a full disk, into one that names the folder and the remedy."""
    try:
        yield
    except OSError as error:
        raise Error(f"can't write to {base}, the folder of private daemons: {error}; set ECHOLINE_PRIVATE_DIR to "
                    "another folder, or make room") from error


def remove_old_folders(base: pathlib.Path, own: str) -> None:
    """Removes folders of daemons that ended. Call it with the lock: no daemon is about to start in one of them."""
    folders = [entry for entry in os.scandir(base) if entry.is_dir() and entry.name not in ("state", own)]
    folders.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
    for entry in folders[_KEPT_FOLDERS:]:
        folder = pathlib.Path(entry.path)
        if answers(folder / "control.sock", socket.SOCK_STREAM):
            continue
        for name in _FILES:
            with contextlib.suppress(OSError):
                os.unlink(folder / name)
        with contextlib.suppress(OSError):
            os.rmdir(folder)
