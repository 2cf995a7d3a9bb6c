#!/usr/bin/env python3
"""The cost of a batch's hand-over: from the daemon to C++ and to Python, from one worker of PyTorch's DataLoader, and over
a gRPC stream, in turn, for batches of 38 MB and of 128 KiB; and the time of Python's next() on a ready batch, compared
with a bare loop. Prints figures and judges nothing.

    python3 -m venv grpc && grpc/bin/pip install grpcio numpy
    ECHOLINED=... ECHOLINE_LIBRARY=... ECHOLINE_RING_SERVER=... PYTHONPATH=client/python \\
      handoff.py --trainer build/release/tests/bench/handoff_trainer --grpc-python grpc/bin/python

Every producer has its data ready in memory, and no consumer touches it. The daemon echoes each batch 64 times, so that
only 1/64 of the cost of writing rows into the ring counts. DataLoader collates rows that are tensors already, as always.
gRPC sends the same bytes again and again. CPU time is that of producer and consumer from the first batch."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from support.daemon_process import Daemon, stream_yaml  # noqa: E402
from support.programs import binary  # noqa: E402

LOOPS = pathlib.Path(__file__).with_name("handoff_loops.py")
# name: (bytes of a row, rows of a batch)
SIZES = {"38 MB": (150_528, 256), "128 KiB": (16_384, 8)}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pipeline(path, row, rows, echoed):
    steps = [f"read: {{url: '{path}', format: tokens, tokens: {{length: {row // 2}}}}}", "shuffle: {window: 1024}",
             f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{row // 2}]}}}}", f"batch: {{size: {rows}}}",
             "publish: {slots: 8}"]
    if echoed:
        steps.insert(4, "echo: {factor: 64, window: 2}")
    return stream_yaml(steps)


def output(command):
    return json.loads(subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])


class Echoline:
    """A daemon with one stream, and trainers on it."""

    def __init__(self, trainer, path, row, rows, echoed=True):
        self.trainer = trainer
        self.daemon = Daemon(pipeline(path, row, rows, echoed), memory="3GiB").start()

    def from_cpp(self, seconds):
        return output([self.trainer, seconds, self.daemon.runtime_dir, self.daemon.process.pid])

    def from_python(self, seconds):
        return output([sys.executable, LOOPS, "echoline", seconds, self.daemon.runtime_dir, self.daemon.process.pid])


def figures(found):
    """(GB/s, CPU-seconds per GB, microseconds of CPU per batch)."""
    gigabytes = found["bytes"] / 1e9
    return (gigabytes / found["seconds"], found["cpu_seconds"] / gigabytes,
            found["cpu_seconds"] / found["batches"] * 1e6)


def compare(size, path, options):
    row, rows = SIZES[size]
    ours = Echoline(options.trainer, path, row, rows)
    fresh = Echoline(options.trainer, path, row, rows, echoed=False)
    ways = {"Echoline, C++": ours.from_cpp, "Echoline, Python": ours.from_python,
            "Echoline, C++, rows written each time": fresh.from_cpp,
            "DataLoader": lambda seconds: output([options.torch_python, LOOPS, "dataloader", seconds, row, rows])}
    if options.grpc_python:
        ways["gRPC"] = lambda seconds: output([options.grpc_python, LOOPS, "grpc", seconds, row * rows])
    rounds = []
    for _ in range(options.rounds):
        rounds.append({name: way(options.seconds) for name, way in ways.items()})
    for each in ours, fresh:
        each.daemon.stop()
    print(f"{size}, {options.rounds} rounds, load {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores:")
    for name in ways:
        seen = [figures(found[name]) for found in rounds]
        rate, cpu, batch = (statistics.median(part) for part in zip(*seen))
        ratio = statistics.median(mine[1] / figures(found["Echoline, Python"])[1] for mine, found in zip(seen, rounds))
        more = [f"{key} {statistics.median(found[name][key] for found in rounds):.2f}" for key in ("next_p50_us", "copied")
                if key in rounds[0][name]]
        print(f"  {name:>34}: {rate:7.2f} GB/s  {cpu:8.4f} CPU-s/GB ({min(part[1] for part in seen):.4f} to "
              f"{max(part[1] for part in seen):.4f})  {batch:8.1f} us of CPU a batch  {ratio:6.1f} times Python's  "
              + "  ".join(more), flush=True)


def ready(options):
    """Times steps over a ring full of small batches; its server is idle meanwhile."""
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            server = subprocess.Popen([binary("ECHOLINE_RING_SERVER"), f"dir={folder}", "slots=20000",
                                       "batches_max=20000", "rows=100000000"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
            server.stdout.readline()
            found = output([sys.executable, LOOPS, "ready", folder])
            server.kill()
            server.wait()
        print("  " + "   ".join(f"{name} {nanoseconds:.0f} ns" for name, nanoseconds in found.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="of each run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trainer", required=True, help="the C++ consumer's program")
    parser.add_argument("--torch-python", default="/usr/bin/python3", help="with torch")
    parser.add_argument("--grpc-python", help="with grpcio and numpy; without it gRPC is left out")
    options = parser.parse_args()
    print("one step over ready batches, p50:")
    ready(options)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "data.tokens")
        path.write_bytes(os.urandom(1 << 20) * 154)
        for size in SIZES:
            compare(size, path, options)


if __name__ == "__main__":
    main()
