"""A daemon as a process, with its own configuration and folders, for tests that look from outside."""
import concurrent.futures
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

from support.batches import joined
from support.programs import PATIENCE, binary, end_with_parent, free_port, run_echoline


def stream_yaml(steps, name="train", seed=7, more=""):
    """One stream; `steps` are the pipeline's lines in YAML's flow form (empty ones are left out), `more` further keys of
    the stream."""
    lines = "".join(f"      - {step}\n" for step in steps if step)
    return f"  {name}:\n    seed: {seed}\n{more}    pipeline:\n{lines}"


class Daemon:
    """One echolined with its own folder. `with` starts it; at the end it stops the daemon in order, requires that it left
    nothing behind but its state folder, and removes the folder.

    `streams` are lines of YAML below `streams:`; `metrics` a port (0: off, True: a free one); `control` a mapping in
    YAML's flow form, without its braces; `more` further keys of the daemon; `user` the numeric user that it runs as, which
    only root can choose; `limits` its resource limits by their numbers. `start` may be called again after the daemon ended: the runtime folder and the
    state folder keep their content."""

    def __init__(self, streams, workers=2, memory="512MiB", metrics=0, environment=None, folder=None, grace="10s", control=None,
                 more="", user=None, limits=None):
        self._owned = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="echoline-process-"))
        self.runtime_dir, self.state_dir = self.folder / "run", self.folder / "state"
        self.metrics = free_port() if metrics is True else metrics
        self.environment = {**os.environ, **(environment or {})}
        self.config = self.folder / "config.yaml"
        address = f"127.0.0.1:{self.metrics}" if self.metrics else "off"
        self.config.write_text(
            f"daemon: {{runtime_dir: {self.runtime_dir}, state_dir: {self.state_dir}, metrics: '{address}', "
            f"memory: {memory}, workers: {workers}, reattach_grace: {grace}"
            + ("" if control is None else f", control: {{{control}}}") + (f", {more}" if more else "")
            + f"}}\nstreams:\n{streams}", encoding="utf-8")
        self.log_file = self.folder / "log"
        self.user, self.limits = user, limits or {}
        self.process = self._notify = None

    # ---- its life ----

    def spawn(self, *more):
        """Starts the process without waiting for anything."""
        self._close_notify()
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = self.folder / f"notify-{time.monotonic_ns()}"
        self._notify.bind(str(address))
        program = binary("ECHOLINED")
        if self.user is not None:
            program = self._copy_for_user(program, address)
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [program, "--config", str(self.config), *more], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**self.environment, "NOTIFY_SOCKET": str(address)}, preexec_fn=self._prepare_process,
                user=self.user, group=self.user)
        return self

    def _prepare_process(self):
        end_with_parent()
        for number, most in self.limits.items():
            resource.setrlimit(number, (most, most))

    def _copy_for_user(self, program, address):
        """Gives the folder and the address to the daemon's user; the build folder may be closed to it."""
        for path in (self.folder, address):
            os.chown(path, self.user, self.user)
        return shutil.copy(program, self.folder / "echolined")

    def start(self, *more):
        """Starts the process and waits until it is ready for trainers."""
        return self.spawn(*more).await_ready()

    def notification(self, seconds):
        """The daemon's next message to its service manager (sd_notify), or None after that time."""
        readable, _, _ = select.select([self._notify], [], [], seconds)
        return self._notify.recv(4096) if readable else None

    def await_ready(self):
        deadline = time.monotonic() + PATIENCE
        while b"READY=1" not in (self.notification(0.1) or b""):
            if self.process.poll() is not None:
                raise RuntimeError(f"the daemon ended with {self.process.returncode}:\n{self.log()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"the daemon was not ready in {PATIENCE} s:\n{self.log()}")
        return self

    def run_to_its_end(self, *more):
        """For starts that must fail: (exit code, what it wrote)."""
        self.spawn(*more)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.stop(signal.SIGKILL)
            raise RuntimeError(f"the daemon started after all, or hangs:\n{self.log()}") from None
        return self.stop(), self.log()

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def stop(self, number=signal.SIGTERM):
        """Ends the process if it still runs, by SIGKILL if it does not follow; the exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._close_notify()
        return self.process.returncode

    def check_orderly_stop(self, may_leave=()):
        """Ends the daemon by SIGTERM; AssertionError if it fails or leaves other files in its runtime folder."""
        code = self.stop()
        left = sorted(set(os.listdir(self.runtime_dir)).difference(may_leave)) if self.runtime_dir.exists() else []
        if code != 0 or left:
            raise AssertionError(f"the daemon ended with {code} and left {left}:\n{self.log()}")

    def close(self):
        """Stops the daemon if it runs, and removes its folder."""
        try:
            if self.process is not None and self.process.poll() is None:
                # The daemon keeps a list of trainers that still live, for its next start.
                self.check_orderly_stop(may_leave=["trainers.json"])
        finally:
            self._remove()

    def _remove(self):
        self.stop(signal.SIGKILL)
        if self._owned:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _close_notify(self):
        if self._notify is not None:
            self._notify.close()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self._remove()
            raise

    def __exit__(self, error, *_):
        if error is None:
            self.close()
        else:
            self._remove()

    # ---- its metrics ----

    def metric_lines(self, name):
        """{labels as text: value} of one metric."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=PATIENCE) as answer:
            lines = answer.read().decode().splitlines()
        found = {}
        for line in lines:
            if line.startswith(name + "{") or line.startswith(name + " "):
                labels, _, value = line[len(name):].rpartition(" ")
                found[labels] = float(value)
        return found

    def total(self, name, **labels):
        """The sum of a metric's series that have these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return sum(value for text, value in self.metric_lines(name).items() if all(part in text for part in wanted))

    # ---- the command line ----

    def command(self, *arguments, **options):
        """A finished run of `echoline ARGUMENTS` on this daemon, with its output as text."""
        return run_echoline(*arguments, "--runtime-dir", self.runtime_dir, **options)

    def reader(self, *arguments, stream="train"):
        """A started `echoline read --ids`."""
        return subprocess.Popen([binary("ECHOLINE_CLI"), "read", stream, "--ids", "--runtime-dir",
                                 str(self.runtime_dir), *map(str, arguments)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment,
                                preexec_fn=end_with_parent)

    def read(self, *arguments, stream="train"):
        """The batches that `echoline read --ids ARGUMENTS` prints, as dictionaries."""
        return _printed(self.reader(*arguments, stream=stream))

    def read_as_ranks(self, world_size, *arguments, stream="train"):
        """The batches of all ranks, joined: `world_size` processes at the same time. "{rank}" in an argument becomes the
        rank's number."""
        readers = [self.reader("--rank", rank, "--world-size", world_size,
                               *(str(argument).replace("{rank}", str(rank)) for argument in arguments), stream=stream)
                   for rank in range(world_size)]
        # Output goes to pipes of limited size: read all at the same time.
        with concurrent.futures.ThreadPoolExecutor(world_size) as pool:
            return [joined(parts) for parts in zip(*pool.map(_printed, readers), strict=True)]


def _printed(reader):
    output, errors = reader.communicate(timeout=10 * PATIENCE)
    if reader.returncode != 0:
        raise RuntimeError(f"echoline read ended with {reader.returncode}: {errors.decode()}")
    return [json.loads(line) for line in output.splitlines()]
