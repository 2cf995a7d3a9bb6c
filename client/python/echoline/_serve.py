"""A daemon that runs as long as a block of a program, for notebooks and tests."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Dict, Mapping, Optional

from ._configuration import Configuration, configuration_text, in_terms_of
from ._errors import Error, InvalidArgument
from ._loader import Loader, close_loaders
from ._processes import refuse_in_worker
from ._programs import find_daemon

_PR_SET_PDEATHSIG = 1
_OWN_SETTINGS = ("daemon.runtime_dir",)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Daemon:
    """A running daemon; serve() creates it. `runtime_dir`: its folder. `pid`: its process. `log()`: its messages.

    It owns the folder, also one that is given: stop() removes it.
    """

    def __init__(self, config: Configuration, settings: Mapping[str, Any], timeout: float,
                 runtime_dir: Optional[str] = None) -> None:
        refuse_in_worker()
        for name in settings:
            if name in _OWN_SETTINGS:
                raise InvalidArgument(f"settings: {name} is chosen by serve(): the daemon has a folder of its own")
        self.runtime_dir = runtime_dir or tempfile.mkdtemp(prefix="echoline-")
        self._config, self._copy = config, os.path.join(self.runtime_dir, "echoline.yaml")
        self._log = pathlib.Path(self.runtime_dir) / "daemon.log"
        # door.sock is there before the streams are ready; READY=1 comes after them (sd_notify).
        self._ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # The kernel sends the death signal when the thread that started the process ends. So set it only in the main
        # thread.
        preexec = _end_with_parent if threading.current_thread() is threading.main_thread() else None
        try:
            self._bind_ready()
            command = [find_daemon(), "--config", self._written(), "--set", f"daemon.runtime_dir={self.runtime_dir}"]
            for name, value in settings.items():
                command += ["--set", f"{name}={value}"]
            with open(self._log, "wb") as log:
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 env={"ECHOLINE_PYTHON": sys.executable, **os.environ,
                                                      "NOTIFY_SOCKET": self._ready.getsockname()},
                                                 preexec_fn=preexec)
            self._await_ready(timeout)
        except BaseException:
            self.stop()
            raise

    def _bind_ready(self) -> None:
        ready = os.path.join(self.runtime_dir, "ready")
        with contextlib.suppress(FileNotFoundError):  # of a process that was killed
            os.unlink(ready)
        try:
            self._ready.bind(ready)
        except OSError as error:  # mostly: the path of a socket has at most 107 bytes
            raise InvalidArgument(f"{ready}: no socket can be made there: {error}; set TMPDIR to another folder, with a "
                                  "short path") from None
        self._ready.setblocking(False)

    def _written(self) -> str:
        """The path of the configuration, in the folder unless it is a file of the user's."""
        if isinstance(self._config, (str, os.PathLike)):
            return os.fspath(self._config)
        pathlib.Path(self._copy).write_text(configuration_text(self._config), encoding="utf-8")
        return self._copy

    @property
    def pid(self) -> int:
        return self._process.pid

    def log(self) -> str:
        """What the daemon wrote to stdout and stderr so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def _said(self) -> str:
        return in_terms_of(self._config, self.log().strip(), self._copy)

    def _await_ready(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not self._is_ready():
            if self._process.poll() is not None:
                raise Error(f"the daemon ended with exit code {self._process.returncode}:\n{self._said()}")
            if time.monotonic() > deadline:
                raise Error(f"the daemon was not ready within {timeout:g} s:\n{self._said()}")
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        try:
            return b"READY=1" in self._ready.recv(4096)
        except BlockingIOError:
            return False

    def loader(self, stream: str, **arguments: Any) -> Loader:
        """A Loader on this daemon."""
        return Loader(stream, runtime_dir=self.runtime_dir, **arguments)

    def stop(self, patience: float = 10) -> None:
        """Closes the loaders of this process, sends SIGTERM, after `patience` seconds SIGKILL, and removes the folder."""
        close_loaders(self.runtime_dir)
        process: Optional[subprocess.Popen] = getattr(self, "_process", None)
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._ready.close()
        shutil.rmtree(self.runtime_dir, ignore_errors=True)


class serve:  # noqa: N801  (used like a function)
    """`with echoline.serve("stream.yaml") as daemon:` runs a private daemon in a temporary folder.

    `config` is the path of a YAML file, a dict with its content, or the list of the steps of a stream "train". Inside the
    block ECHOLINE_RUNTIME_DIR is set: `echoline.Loader("train")` attaches to this daemon, as does
    `daemon.loader("train")`. `settings` are passed as --set, for example {"daemon.workers": 4}. `timeout`: seconds until
    the daemon must be ready; if it is not, Error is raised with its log.
    """

    def __init__(self, config: Configuration, settings: Optional[Mapping[str, Any]] = None,
                 timeout: float = 600) -> None:
        self._config, self._settings, self._timeout = config, dict(settings or {}), timeout
        self._before: Dict[str, Optional[str]] = {}

    def __enter__(self) -> Daemon:
        self._daemon = Daemon(self._config, self._settings, self._timeout)
        self._before["ECHOLINE_RUNTIME_DIR"] = os.environ.get("ECHOLINE_RUNTIME_DIR")
        os.environ["ECHOLINE_RUNTIME_DIR"] = self._daemon.runtime_dir
        return self._daemon

    def __exit__(self, *_: object) -> None:
        before = self._before["ECHOLINE_RUNTIME_DIR"]
        if before is None:
            os.environ.pop("ECHOLINE_RUNTIME_DIR", None)
        else:
            os.environ["ECHOLINE_RUNTIME_DIR"] = before
        self._daemon.stop()
