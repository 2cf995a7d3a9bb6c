"""The cost of a batch's hand-over: from the daemon to C++ and to Python, and from the producer of other loaders, for batches
of 38 MB and of 128 KiB; and the time of Python's next() on a ready batch, compared with a bare loop.

Every producer has its data ready in memory, and no consumer touches it. The daemon echoes each batch 64 times, so that only
1/64 of the cost of writing rows into the ring counts; "rows written each time" is without echo. CPU time is that of all
processes that take part, from the first batch on. handoff_loops.py has the consumers' loops."""
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from statistics import median

from handoff_loops import figures
from suite import peers
from suite.rounds import PATIENCE, Row, Table, interleave, number
from support.daemon_process import Daemon, stream_yaml
from support.programs import binary

PROGRAMS = ("ECHOLINE_LIBRARY", "ECHOLINE_RING_SERVER", "HANDOFF_TRAINER")
LOOPS = pathlib.Path(__file__).with_name("handoff_loops.py")
# name: (bytes of a row, rows of a batch)
SIZES = {"38 MB": (150_528, 256), "128 KiB": (16_384, 8)}
# Name: (set, its package, loop). A loop with a row and a number of rows collates rows that are ready, as training does.
PEERS = {"Grain": ("grain", "grain", "grain"), "Ray": ("ray", "ray", "ray"),
         "gRPC": ("grpc", "grpcio", "grpc"), "TensorSocket": ("tensorsocket", "tensorsocket", "tensorsocket")}


def pipeline(path, row, rows, echoed):
    steps = [f"read: {{url: '{path}', format: tokens, tokens: {{length: {row // 2}}}}}", "shuffle: {window: 1024}",
             f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{row // 2}]}}}}", f"batch: {{size: {rows}}}",
             "publish: {slots: 8}"]
    if echoed:
        steps.insert(4, "echo: {factor: 64, window: 2}")
    return stream_yaml(steps)


def output(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, check=True, timeout=PATIENCE)
    return json.loads(done.stdout.splitlines()[-1])


def from_cpp(daemon, seconds):
    return output([os.environ["HANDOFF_TRAINER"], seconds, daemon.runtime_dir, daemon.process.pid])


def from_python(daemon, seconds):
    return output([sys.executable, LOOPS, "echoline", seconds, daemon.runtime_dir, daemon.process.pid])


def from_peer(find_python, loop, seconds, row, rows):
    return output([find_python(), "-B", LOOPS, loop, seconds, row, rows])


def compare(size, path, options):
    """The tables of one size of batches."""
    row, rows = SIZES[size]
    seconds = 0.3 if options.quick else 3
    with Daemon(pipeline(path, row, rows, True), memory="3GiB") as ours, \
            Daemon(pipeline(path, row, rows, False), memory="3GiB") as fresh:
        for daemon in (ours, fresh):
            from_cpp(daemon, seconds)  # the first pass fills its read-ahead
        ways = {"Echoline, Python": lambda: from_python(ours, seconds), "Echoline, C++": lambda: from_cpp(ours, seconds),
                "Echoline, C++, rows written each time": lambda: from_cpp(fresh, seconds)}
        torch = functools.partial(peers.debian_python, "torch", "python3-torch")
        others = {"DataLoader": functools.partial(from_peer, torch, "dataloader", seconds, row, rows)}
        for name, (group, package, loop) in PEERS.items():
            others[f"{name} {peers.version(group, package)}"] = functools.partial(
                from_peer, functools.partial(peers.python, group), loop, seconds, row, rows)
        found = interleave(ways | {name: way for name, way in others.items() if options.wants(name)}, options.rounds)
    copied = sum(each["copied"] for each in found.results.get("Echoline, Python", []))
    note = f"Every thousandth array in Python was looked at: {copied} were copies, the others are in the ring's memory."
    waits = [each["next_p50_us"] for each in found.results.get("Echoline, C++", [])]
    if waits:
        note += f" `next()` from C++ while the daemon writes, with a clock around each call: {number(median(waits))} us."
    return [Table(f"CPU time of the hand-off, batches of {size}", "CPU-s per GB", found.rows(
                lambda each: figures(each)[1]), ("Echoline, Python",), False, note),
            Table(f"CPU time of a batch, batches of {size}", "us", found.rows(
                lambda each: figures(each)[2]), ("Echoline, Python",), False)]


def ready_steps():
    """{loop: nanoseconds of a step} over a ring full of small batches; its server is idle meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([binary("ECHOLINE_RING_SERVER"), f"dir={folder}", "slots=20000", "batches_max=20000",
                                   "rows=100000000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            server.stdout.readline()
            return output([sys.executable, LOOPS, "ready", folder])
        finally:
            server.kill()
            server.communicate()


def measure(options):
    found = interleave({"steps": ready_steps}, options.rounds)
    steps = found.results.get("steps", [])
    rows = [Row(name, [each[name] for each in steps]) for name in steps[0]] if steps else [found.row("steps")]
    tables = [Table("One step over ready batches", "ns", rows, more_is_better=False)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "data.tokens")
        path.write_bytes(os.urandom(1 << 20) * 154)
        for size in SIZES:
            tables += compare(size, path, options)
    return tables
