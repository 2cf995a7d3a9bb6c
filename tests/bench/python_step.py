"""The cost of a sample's way to a function in Python and back: of a step `python` whose function does nothing, or copies its
sample, for one sample or a chunk of them, and of a DataLoader's worker whose data set does as little. And the cost of rows of a data set that decodes photos with
Pillow: read by a DataLoader, by `read: python`, and with echo behind it.

CPU time is that of all processes that take part. The cost of the step is the difference from the same pipeline without it.
python_step_loops.py has the consumers' loops."""
import contextlib
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from suite import peers
from suite.rounds import PATIENCE, Row, Table, Unavailable, interleave
from support.daemon_process import Daemon, stream_yaml

PROGRAMS = ("ECHOLINE_LIBRARY",)
LOOPS = pathlib.Path(__file__).with_name("python_step_loops.py")
BYTES = 150_528
# The function, and settings of its step.
FUNCTIONS = {"returns its sample": ("same", ""), "returns a new array": ("copied", ""),
             "in chunks of 4, returns them": ("same", "batched: true, chunk: 4"),
             "in chunks of 16, returns them": ("same", "batched: true"),
             "in chunks of 16, returns a new array": ("copied", "batched: true")}
DATA_SETS = {"the usual number of samples": ("Cheap", ""), "batched": ("CheapTogether", "batched: true")}
# A free-threaded CPython with numpy.
THREADED = os.environ.get("ECHOLINE_TEST_THREADED_PYTHON", "")
ECHOED = "returns a new array, then echo with factor 4"


def pipeline(path, function="", settings="", echo="", workers=1, interpreter=sys.executable):
    step = f"python: {{file: {LOOPS}, function: {function}, out: {{tokens: {{}}}}, workers: {workers}, interpreter: {interpreter}" + \
           (f", {settings}}}" if settings else "}")
    return stream_yaml([f"read: {{url: '{path}', format: tokens, tokens: {{length: {BYTES // 2}}}}}",
                        f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{BYTES // 2}]}}}}", function and step, echo,
                        "batch: {size: 16}", "publish: {slots: 8}"])


def photos(echo):
    python = f"{{file: {LOOPS}, function: Photos, out: {{image: {{as: uint8, shape: [224, 224, 3]}}}}, workers: 1, " \
             f"interpreter: {sys.executable}}}"
    return stream_yaml([f"read: {{python: {python}}}", "shuffle: {window: all}", echo, "batch: {size: 16}", "publish: {slots: 8}"])


def data_set(function, out, settings, interpreter=sys.executable):
    python = f"{{file: {LOOPS}, function: {function}, out: {{{out}}}, interpreter: {interpreter}" + \
        (f", {settings}}}" if settings else "}")
    return stream_yaml([f"read: {{python: {python}}}", "shuffle: {window: all}", "batch: {size: 16}", "publish: {slots: 8}"])


def output(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, check=True, timeout=PATIENCE)
    return json.loads(done.stdout.splitlines()[-1])


def measure(options):
    return [*measure_steps(options), *measure_transform(options), measure_data_set(options), measure_cheap(options),
            *measure_threads(options)]


def cpu(result):
    return result["us"]


def from_daemon(seconds, daemon):
    return functools.partial(output, sys.executable, "-B", LOOPS, "echoline", seconds, daemon.runtime_dir, daemon.process.pid)


def from_dataloader(seconds, what):
    torch = functools.partial(peers.debian_python, "torch", "python3-torch")
    return lambda: output(torch(), "-B", LOOPS, "dataloader", seconds, what)


def measure_data_set(options):
    seconds = 0.5 if options.quick else 3
    with Daemon(photos(""), workers=1) as plain, \
            Daemon(photos("echo: {factor: 4, window: 256}"), workers=1) as echoed:
        ways = {"read: python": from_daemon(seconds, plain),
                "read: python, then echo with factor 4": from_daemon(seconds, echoed)}
        others = {"DataLoader": from_dataloader(seconds, "photos")} if options.wants("DataLoader") else {}
        found = interleave(ways | others, options.rounds)
    return Table("CPU time of a whole row of a data set that decodes photos with Pillow", "us",
                 [found.row(name, cpu) for name in [*ways, *others]], ("read: python",), False)


def measure_cheap(options):
    seconds = 0.5 if options.quick else 3
    with contextlib.ExitStack() as daemons:
        ways = {name: from_daemon(seconds, daemons.enter_context(Daemon(
            data_set(function, f"tokens: {{as: uint16, shape: [{BYTES // 2}]}}", f"workers: 1, {settings}".rstrip(", ")), workers=1)))
            for name, (function, settings) in DATA_SETS.items()}
        found = interleave(ways, options.rounds)
    return Table(f"CPU time of a whole row of {BYTES:,} bytes of a data set in memory", "us",
                 [found.row(name, cpu) for name in ways], ("a sample at a time",), False)


def measure_threads(options):
    """Threads and processes of the same free-threaded interpreter, and processes of this one, as many as processors."""
    if not THREADED:
        return []
    seconds, workers = 0.5 if options.quick else 3, len(os.sched_getaffinity(0))
    with contextlib.ExitStack() as daemons:
        ways = {name: from_daemon(seconds, daemons.enter_context(Daemon(
            data_set("Listed", "label: {as: int64}, found: {as: int64}", f"workers: {workers}, threads: {threads}", interpreter),
            workers=workers))) for name, threads, interpreter in (
                (f"{workers} threads, free-threaded", "true", THREADED), (f"{workers} processes, free-threaded", "false", THREADED),
                (f"{workers} processes, with a GIL", "false", sys.executable))}
        found = interleave(ways, options.rounds)
    rows = {key: [found.row(name, lambda result, key=key: result[key]) for name in ways] for key in ("us", "rate", "MiB")}
    reference = (f"{workers} processes, free-threaded",)
    return [Table("CPU time of a whole row of a data set in Python", "us", rows["us"], reference, False),
            Table("rows of a data set in Python", "rows/s", rows["rate"], reference),
            Table("memory of the daemon and its workers", "MiB", rows["MiB"], reference, False)]


def torchvision_python():
    """The interpreter with torchvision's transforms of version 2, or with Debian's older ones."""
    try:
        return peers.python("torchvision_v2")
    except Unavailable:
        return peers.debian_python("torchvision", "python3-torchvision")


def measure_transform(options):
    """torchvision's transforms in two workers, and in two processes that do nothing else."""
    try:
        python = torchvision_python()
    except Unavailable:
        return []
    seconds = 0.5 if options.quick else 6
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "data.tokens")
        path.write_bytes(os.urandom(1 << 20) * 32)

        def step():
            # New workers in each round, as the processes are new: with one daemon for all, whole runs differ.
            # Each call keeps a thread of the daemon waiting.
            with Daemon(pipeline(path, "transformed", workers=2, interpreter=python), workers=2) as daemon:
                return from_daemon(seconds, daemon)()

        found = interleave({"2 processes alone": lambda: output(python, "-B", LOOPS, "bare", seconds, 2),
                            "step python, 2 workers": step}, options.rounds)
    return [Table(what, unit, [found.row(name, lambda result, key=key: result[key]) for name in found.results],
                  ("2 processes alone",), *more)
            for what, unit, key, *more in (("torchvision's transforms of pictures of 224 x 224 pixels", "rows/s", "rate"),
                                           ("CPU time of a whole row with these transforms", "us", "us", False))]


def measure_steps(options):
    seconds = 0.5 if options.quick else 3
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "data.tokens")
        path.write_bytes(os.urandom(1 << 20) * 154)
        pipelines = {"without the step": pipeline(path), **{name: pipeline(path, *step) for name, step in FUNCTIONS.items()},
                     ECHOED: pipeline(path, "copied", echo="echo: {factor: 4, window: 256}")}
        with contextlib.ExitStack() as daemons:
            ways = {name: from_daemon(seconds, daemons.enter_context(Daemon(yaml, workers=1)))
                    for name, yaml in pipelines.items()}
            others = {"DataLoader": from_dataloader(seconds, BYTES)}
            found = interleave(ways | {name: way for name, way in others.items() if options.wants(name)}, options.rounds)
    plain = found.results.get("without the step", [])
    rows = [Row(f"step python, {name}", [cpu(each) - cpu(base) for each, base in zip(found.results.get(name, []), plain)],
                found.reasons.get(name, "")) for name in FUNCTIONS]
    rows += [found.row("DataLoader", cpu, "DataLoader, one worker")] if options.wants("DataLoader") else []
    return [Table(f"CPU time of the hand-over of a sample of {BYTES:,} bytes, both sides", "us", rows,
                  ("step python, returns its sample",), False),
            Table("CPU time of a whole row", "us", [found.row(name, cpu) for name in ways], (), False)]
