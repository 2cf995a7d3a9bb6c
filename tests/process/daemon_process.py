"""A daemon and command line runs of one's own, as processes, for tests that look from outside.

The binaries are named by ECHOLINED and ECHOLINE_CLI. Exit code 77 (ctest: skipped) where something is missing."""
import concurrent.futures
import contextlib
import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "servers"))
from s3_client import S3Client

PATIENCE = 120  # seconds; the machine may be very busy


def skip(why):
    print(f"skipped: {why}", flush=True)
    sys.exit(77)


def binary(variable):
    path = os.environ.get(variable)
    if not path or not os.access(path, os.X_OK):
        skip(f"{variable} names no program: {path}")
    return path


def end_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def stream_yaml(steps, name="train", seed=7, more=""):
    """One stream; `steps` are the pipeline's lines in YAML's flow form, `more` further keys of the stream."""
    lines = "".join(f"      - {step}\n" for step in steps)
    return f"  {name}:\n    seed: {seed}\n{more}    pipeline:\n{lines}"


class Daemon:
    """One echolined with a folder of its own; `with` ends it and removes the folder.

    `streams` are lines of YAML below `streams:`; `metrics` a port (0: off); `control` a mapping in YAML's flow form, without
    its braces. `start` may be called again after the
    daemon ended: the runtime folder and the state folder stay as they were left."""

    def __init__(self, streams, workers=2, memory="512MiB", metrics=0, environment=None, folder=None, grace="10s", control=None):
        self._owned = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="echoline-process-"))
        self.runtime_dir, self.state_dir = self.folder / "run", self.folder / "state"
        self.metrics = metrics
        self.environment = {**os.environ, **(environment or {})}
        self.config = self.folder / "config.yaml"
        address = f"127.0.0.1:{metrics}" if metrics else "off"
        self.config.write_text(
            f"daemon: {{runtime_dir: {self.runtime_dir}, state_dir: {self.state_dir}, metrics: '{address}', "
            f"memory: {memory}, workers: {workers}, reattach_grace: {grace}"
            + ("" if control is None else f", control: {{{control}}}") + f"}}\nstreams:\n{streams}", encoding="utf-8")
        self.log_file = self.folder / "log"
        self.process = None

    def spawn(self, *more):
        """Starts the process without waiting for anything."""
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = self.folder / f"notify-{time.monotonic_ns()}"
        self._notify.bind(str(address))
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [binary("ECHOLINED"), "--config", str(self.config), *more], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={**self.environment, "NOTIFY_SOCKET": str(address)}, preexec_fn=end_with_parent)
        return self

    def start(self, *more):
        """Starts the process and waits until it is ready for trainers."""
        return self.spawn(*more).await_ready()

    def await_ready(self):
        deadline = time.monotonic() + PATIENCE
        while True:
            readable, _, _ = select.select([self._notify], [], [], 0.1)
            if readable and b"READY=1" in self._notify.recv(4096):
                return self
            if self.process.poll() is not None:
                raise RuntimeError(f"the daemon ended with {self.process.returncode}:\n{self.log()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"the daemon was not ready in {PATIENCE} s:\n{self.log()}")

    def run_to_its_end(self, *more):
        """For starts that must fail: (exit code, what it wrote)."""
        self.spawn(*more)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.stop(signal.SIGKILL)
            raise RuntimeError(f"the daemon started after all, or hangs:\n{self.log()}") from None
        self._notify.close()
        return self.process.returncode, self.log()

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def stop(self, number=signal.SIGTERM):
        """Returns the exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._notify.close()
        return self.process.returncode

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.stop(signal.SIGTERM if self.process and self.process.poll() is None else signal.SIGKILL)
        if self._owned:
            shutil.rmtree(self.folder, ignore_errors=True)

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

    # ---- the command line ----

    def reader(self, *arguments, stream="train"):
        """A started `echoline read --ids`."""
        return subprocess.Popen([binary("ECHOLINE_CLI"), "read", stream, "--ids", "--runtime-dir",
                                 str(self.runtime_dir), *map(str, arguments)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment,
                                preexec_fn=end_with_parent)

    def read(self, *arguments, stream="train"):
        """The batches that `echoline read --ids ARGUMENTS` prints, as dictionaries."""
        return finish(self.reader(*arguments, stream=stream))

    def read_as_ranks(self, world_size, *arguments, stream="train"):
        """Batches of all ranks put together: `world_size` processes at the same time. "{rank}" in an argument is the
        rank's number."""
        readers = [self.reader("--rank", rank, "--world-size", world_size,
                               *(str(argument).replace("{rank}", str(rank)) for argument in arguments), stream=stream)
                   for rank in range(world_size)]
        return [joined(parts) for parts in zip(*all_finished(readers), strict=True)]


def run_index(address, *arguments, environment=None):
    """A finished `echoline index ADDRESS` that keeps nothing in a state folder."""
    with tempfile.TemporaryDirectory() as state:
        return subprocess.run([binary("ECHOLINE_CLI"), "index", address, "--json", "--state-dir", state, *arguments],
                              env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)


def lines_of(output, errors, status):
    if status != 0:
        raise RuntimeError(f"echoline read ended with {status}: {errors.decode()}")
    return [json.loads(line) for line in output.splitlines()]


def finish(reader):
    output, errors = reader.communicate(timeout=10 * PATIENCE)
    return lines_of(output, errors, reader.returncode)


def all_finished(readers):
    """Output goes to pipes of limited size, so all are emptied at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(readers)) as pool:
        return list(pool.map(finish, readers))


def valid(batch):
    """A batch's real rows: (sample id, use, checksum of each field)."""
    count = batch.get("valid_rows", len(batch["sample_ids"]))
    checksums = batch.get("row_checksums", {})
    rows = zip(batch["sample_ids"], batch["uses"], *checksums.values(), strict=True)
    return list(rows)[:count]


def joined(parts):
    """One step's batches of ranks 0..W-1, put together."""
    if len({(part["epoch"], part["step"]) for part in parts}) != 1:
        raise RuntimeError("the ranks are at different steps: "
                           f"{[(part['epoch'], part['step']) for part in parts]}")
    return {"epoch": parts[0]["epoch"], "step": parts[0]["step"],
            "rows": [row for part in parts for row in valid(part)],
            "fresh": sum(part["fresh"] for part in parts)}


def whole(batches):
    """The same form for batches of a single rank."""
    return [joined([batch]) for batch in batches]


class Server:
    """A server program of tests/servers, started; `facts` is what it announced. SkipTest where it is missing."""

    def __init__(self, script, *arguments):
        self.process = subprocess.Popen([sys.executable, "-B", str(TESTS / "servers" / script), *map(str, arguments)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            if self.process.wait() == 77:
                raise unittest.SkipTest(f"{script} lacks its program")
            raise RuntimeError(f"{script} ended with {self.process.returncode}")
        self.facts = json.loads(line)

    def put(self, bucket, key, body):
        """An object into the S3 server."""
        client = S3Client("127.0.0.1", self.facts["port"], self.facts["access_key"], self.facts["secret_key"])
        with contextlib.closing(client.connection):
            client.put(bucket, key, body)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
