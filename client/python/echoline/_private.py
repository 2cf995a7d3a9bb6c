"""Private daemons: one for each configuration of this user on this host, shared by all its processes.

The first loader starts the daemon, and the daemon ends by itself a minute after the last one has gone. Its folder is
named after a hash of the configuration, so that processes with the same one meet. Starts are serialised by a lock of
one file. It is a lock of the process (fcntl), which a forked child does not inherit and which ends with its owner.
"""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from typing import Callable, Iterator, List, Optional

from ._configuration import Configuration, configuration_text
from ._errors import Error, InvalidArgument
from ._library import native
from ._programs import find_daemon
from ._processes import answers, pid_behind, runs

# Of folders of daemons that ended; the newest ones are kept for their logs.
_KEPT_FOLDERS = 16
_FILES = ("echoline.yaml", "daemon.log", "daemon.previous.log", "trainers.json", "control.sock", "door.sock",
          "door.sock.lock")
_START_SECONDS = 30
_STOP_SECONDS = 15
_LOG_LINES = 20
_SOCKET_PATH_MAX = 107
# systemd's messages for the process that starts the daemon are not for the daemon.
_NOT_INHERITED = ("NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID")

# Between threads, which a lock of the process does not exclude.
_starting = threading.Lock()


def _after_fork() -> None:
    global _starting
    _starting = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def _base() -> pathlib.Path:
    """The folder of all private daemons of this user, which no other user can write to.

    Not in XDG_RUNTIME_DIR: it differs between sessions, and disappears with the last one.
    """
    chosen = os.environ.get("ECHOLINE_PRIVATE_DIR")
    base = pathlib.Path(os.path.abspath(chosen or f"/tmp/echoline-private-{os.geteuid()}"))
    try:
        base.mkdir(mode=0o700, parents=bool(chosen), exist_ok=True)
        found = os.lstat(base)
    except OSError as error:
        raise Error(f"the folder of private daemons can't be made: {error}; set ECHOLINE_PRIVATE_DIR to another "
                    "folder") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise Error(f"{base} is not a folder that only this user can write to; remove it, or set ECHOLINE_PRIVATE_DIR "
                    "to another folder")
    return base


@contextlib.contextmanager
def _all_processors() -> Iterator[None]:
    """Widens the set of processors of this thread for a child: a rank is often bound to a few of them."""
    before = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, before)


class PrivateDaemon:
    """The daemon of one configuration. Objects of several processes are for the same daemon."""

    def __init__(self, config: Configuration, stream: str) -> None:
        self._text = configuration_text(config, stream)
        # Relative addresses are relative to the working folder of the daemon, which is that of its first user.
        self._cwd = os.getcwd()
        key = hashlib.sha256("\0".join((native.version(), self._cwd, self._text)).encode("utf-8", "surrogateescape"))
        self._base = _base()
        self.folder = self._base / key.hexdigest()[:16]
        self.log_path = self.folder / "daemon.log"
        self._control = self.folder / "control.sock"
        if len(os.fsencode(self._control)) > _SOCKET_PATH_MAX:
            raise InvalidArgument(f"{self._base} is too long for the path of a socket; set ECHOLINE_PRIVATE_DIR to a "
                                  "shorter one")
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._seen_pid = 0

    # ---- state of the daemon ----

    def is_running(self) -> bool:
        """The control socket is the first that a daemon opens and the last that it closes."""
        if self._process is not None:
            self._process.poll()  # takes the exit status, so that no zombie is left
        return answers(self._control, socket.SOCK_STREAM)

    def pid(self) -> int:
        """The process of the running daemon; 0 if there is none in sight."""
        return pid_behind(self._control)

    def is_ready(self) -> bool:
        """Whether trainers can attach."""
        return answers(self.folder / "door.sock", socket.SOCK_SEQPACKET)

    def log_lines(self) -> List[str]:
        """The end of the log."""
        try:
            with open(self.log_path, "rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - 16384))
                return log.read().decode("utf-8", "replace").splitlines()[-_LOG_LINES:]
        except OSError:
            return []

    def _await_end(self) -> None:
        """Waits until the process has ended: it closes its sockets first and writes why last."""
        deadline = time.monotonic() + _STOP_SECONDS
        while runs(self._seen_pid) and time.monotonic() < deadline:
            time.sleep(0.01)

    def may_start_again(self) -> bool:
        """Whether the daemon has ended in a way after which the next one can be started.

        It stopped in order, as it does when it is idle; or it was killed after it had been ready, and this object did
        not start it. Raises Error if it ended in another way.
        """
        if self.is_running():
            return False
        self._await_end()
        # With the lock: another process may be starting the next daemon, with a new log.
        with self._locked():
            if (self.is_running() or any(line.endswith(" main: stopped") for line in self.log_lines()) or
                    (self._process is None and self._was_ready())):
                return True
            raise self.failure("ended")

    def _was_ready(self) -> bool:
        try:
            with open(self.log_path, "rb") as log:
                return any(b" main: ready: " in line for line in log)
        except OSError:
            return False

    def failure(self, what: str) -> Error:
        """An error with the end of the log."""
        return Error(f"the private daemon {what}; its log is {self.log_path}:\n" + "\n".join(self.log_lines()))

    # ---- start ----

    def ensure_running(self) -> None:
        """Starts the daemon if it is not running. Raises Error if it ends at once."""
        self._seen_pid = 0
        if self.is_running():
            return
        with self._locked():
            if not self.is_running():
                self._remove_old_folders()
                self._start()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Excludes starts and stops in all processes of the user."""
        with _starting, open(self._base / "lock", "ab") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            yield

    def _start(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        config = self.folder / "echoline.yaml"
        config.write_text(self._text, encoding="utf-8", errors="surrogateescape")
        with contextlib.suppress(FileNotFoundError):
            os.replace(self.log_path, self.folder / "daemon.previous.log")
        command = [find_daemon(), "--private", self._state_dir(), "--config", os.fspath(config), "--set",
                   f"daemon.runtime_dir={self.folder}"]
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        # The step `python` runs users' code with the modules of this interpreter.
        environment.setdefault("ECHOLINE_PYTHON", sys.executable)
        # A session of its own: signals for the group or the terminal of the first user are not for the daemon.
        with open(self.log_path, "wb") as log, _all_processors():
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._cwd,
                                             env=environment, start_new_session=True)
        self._seen_pid = self._process.pid
        deadline = time.monotonic() + _START_SECONDS
        while not self.is_running():
            if self._process.returncode is not None:
                raise self.failure(f"ended with exit code {self._process.returncode}")
            if time.monotonic() > deadline:
                self._process.kill()
                raise self.failure(f"did not start within {_START_SECONDS} s")
            time.sleep(0.01)

    def stop_unused(self, pid: int) -> bool:
        """Stops the daemon with this process id, unless other processes use it. Returns whether it has gone.

        The next start indexes the data again.
        """
        with self._locked():
            if self.pid() != pid:
                return pid > 0
            if pid == 0 or self._has_trainers():
                return False
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + _STOP_SECONDS
            while self.is_running() and time.monotonic() < deadline:
                time.sleep(0.02)
            return True

    def _has_trainers(self) -> bool:
        """Whether other processes are attached: what the daemon has written down for its successor."""
        try:
            trainers = json.loads((self.folder / "trainers.json").read_text(encoding="utf-8"))
            return any(trainer["pid"] != os.getpid() for trainer in trainers)
        except FileNotFoundError:
            return False
        except (OSError, ValueError, KeyError, TypeError):
            return True

    def _state_dir(self) -> str:
        """Indexes are kept in the user's folder for them, or, if it is not writable, near the sockets."""
        home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        state = os.path.join(home, "echoline", "private")
        try:
            os.makedirs(state, exist_ok=True)
            writable = os.access(state, os.W_OK | os.X_OK)
        except OSError:
            writable = False
        return state if writable else os.fspath(self._base / "state")

    def _remove_old_folders(self) -> None:
        """Under the lock, so that no daemon is about to start in one of them."""
        folders = [entry for entry in os.scandir(self._base) if entry.is_dir() and entry.name not in
                   ("state", self.folder.name)]
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

    def await_ready(self, deadline: float, progress: Callable[[str], None]) -> bool:
        """Waits until trainers can attach. False: the daemon has ended and may be started again.

        Raises Error if it ended in a way that forbids it, TimeoutError at the deadline.
        """
        pause = 0.01
        while not self.is_ready():
            if self.may_start_again():
                return False
            self._seen_pid = self._seen_pid or self.pid()
            lines = self.log_lines()
            if time.monotonic() > deadline:
                raise TimeoutError(f"the private daemon is not ready yet (wait); its log is {self.log_path}:\n" +
                                   "\n".join(lines))
            progress(lines[-1] if lines else "starting")
            time.sleep(pause)
            pause = min(2 * pause, 0.5)
        return True
