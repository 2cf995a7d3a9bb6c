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
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import BinaryIO, Callable, Iterator, List, Optional

from ._configuration import Configuration, code_of, configuration_text, in_terms_of
from ._errors import Error, InvalidArgument
from ._library import native
from ._private_folders import base_folder, remove_old_folders, writes_explained
from ._programs import find_daemon
from ._processes import answers, pid_behind, runs

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
        self._config, self._stream = config, stream
        # Relative addresses are relative to the working folder of the daemon, which is that of its first user.
        self._cwd = os.getcwd()
        # Other code of the user needs another daemon.
        words = (native.version(), self._cwd, self._text, code_of(self._text))
        key = hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape"))
        self._base = base_folder()
        self.folder = self._base / key.hexdigest()[:16]
        self.log_path = self.folder / "daemon.log"
        self._written = self.folder / "echoline.yaml"
        self._control = self.folder / "control.sock"
        if len(os.fsencode(self._control)) > _SOCKET_PATH_MAX:
            raise InvalidArgument(f"{self._base} is too long for the path of a socket; set ECHOLINE_PRIVATE_DIR to a "
                                  "shorter one")
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._seen_pid = 0
        self.has_started = False  # the daemon, since the last call of take_start()

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

    def _logged(self, pattern: bytes) -> Optional["re.Match[bytes]"]:
        try:
            with open(self.log_path, "rb") as log:
                return next(filter(None, (re.search(pattern, line) for line in log)), None)
        except OSError:
            return None

    def log_lines(self) -> List[str]:
        """The end of the log. It names the user's file, or the step in Python, where the log has the daemon's copy."""
        try:
            with open(self.log_path, "rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - 16384))
                text = log.read().decode("utf-8", "replace")
        except OSError:
            return []
        return in_terms_of(self._config, text, os.fspath(self._written), self._stream).splitlines()[-_LOG_LINES:]

    def how_to_watch(self) -> str:
        """The address of the status page, or, if the configuration has none, a command."""
        page = self._logged(rb" main: door in .*, metrics at (\S+:\d+)$")
        return f"http://{page[1].decode()}/" if page else f"echoline top --runtime-dir {self.folder}"

    def take_start(self) -> bool:
        """Whether this object has started the daemon since the last call."""
        started, self.has_started = self.has_started, False
        return started

    def _await_end(self) -> None:
        """Waits until the process has ended: it closes its sockets first and writes why last."""
        deadline = time.monotonic() + _STOP_SECONDS
        while runs(self._seen_pid) and time.monotonic() < deadline:
            time.sleep(0.01)

    def may_start_again(self) -> bool:
        """Whether the daemon has ended in a way after which the next one can be started.

        It stopped in order, as it does when it is idle; or this object did not start it, and why it ended may be gone.
        Raises Error if it ended in another way.
        """
        if self.is_running():
            return False
        self._await_end()
        # With the lock: another process may be starting the next daemon, with a new log.
        with self._locked():
            stopped = any(line.endswith(" main: stopped") for line in self.log_lines())
            if self.is_running() or stopped or self._process is None:
                return True
            raise self.failure("ended")

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
                remove_old_folders(self._base, self.folder.name)
                self._start()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Excludes starts and stops in all processes of the user."""
        with _starting:
            with writes_explained(self._base):
                lock = open(self._base / "lock", "ab")
            with lock:
                fcntl.lockf(lock, fcntl.LOCK_EX)
                yield

    def _new_log(self) -> BinaryIO:
        """Writes the configuration; the last daemon's log gets another name."""
        with writes_explained(self._base):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._written.write_text(self._text, encoding="utf-8", errors="surrogateescape")
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.log_path, self.folder / "daemon.previous.log")
            return open(self.log_path, "wb")

    def _start(self) -> None:
        command = [find_daemon(), "--private", self._state_dir(), "--config", os.fspath(self._written), "--set",
                   f"daemon.runtime_dir={self.folder}"]
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        # The step `python` runs users' code with the modules of this interpreter.
        environment.setdefault("ECHOLINE_PYTHON", sys.executable)
        # A session of its own: signals for the group or the terminal of the first user are not for the daemon.
        with self._new_log() as log, _all_processors():
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._cwd,
                                             env=environment, start_new_session=True)
        self._seen_pid, self.has_started = self._process.pid, True
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
