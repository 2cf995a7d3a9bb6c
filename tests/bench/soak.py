#!/usr/bin/env python3
"""Millions of small batches: one trainer stays all the time, others come and go. Prints regularly the memory and
descriptors of daemon and trainer and the times of next() since the last line. Judges nothing.

    ECHOLINED=... ECHOLINE_CLI=... ECHOLINE_LIBRARY=... PYTHONPATH=client/python soak.py [--minutes N] [--every SECONDS]
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

import echoline
from handoff import pipeline  # its import makes `support` importable
from support.daemon_process import Daemon
from support.memory_use import held
from support.programs import binary, end_with_parent

VISIT_BATCHES = 20_000
ROW_BYTES, ROWS, RECORDS = 32, 16, 65_536


class Visitor:
    """A job that reads some batches and leaves; then the next one comes."""

    def __init__(self, daemon):
        self.daemon, self.count, self.process = daemon, 0, None

    def start_next_if_ended(self):
        if self.process is not None and self.process.poll() is None:
            return
        if self.process is not None and self.process.returncode != 0:
            raise RuntimeError(f"visitor {self.count} ended with {self.process.returncode}")
        self.count += 1
        self.process = subprocess.Popen(
            [binary("ECHOLINE_CLI"), "read", "train", "--runtime-dir", self.daemon.runtime_dir, "--job",
             f"visitor{self.count}", "--join", "current", "--batches", str(VISIT_BATCHES)], stdout=subprocess.DEVNULL,
            preexec_fn=end_with_parent)

    def end(self):
        self.process.kill()
        self.process.wait()


def read_for(loader, seconds):
    """Sorted times of next() in microseconds, one for each batch."""
    clock, end, times = time.perf_counter_ns, time.monotonic() + seconds, []
    while time.monotonic() < end:
        for _ in range(1000):
            begin = clock()
            batch = loader.next()
            if batch is not None:
                times.append(clock() - begin)
    return [each / 1000 for each in sorted(times)]


def line(name, times, seconds, daemon, trainer):
    print(f"{name}: {len(times) / seconds:7.0f} batches/s  next() p50 {times[len(times) // 2]:.1f} us, p99 "
          f"{times[len(times) * 99 // 100]:.1f} us, longest {times[-1] / 1000:.1f} ms   daemon {daemon[0]} KiB, "
          f"{daemon[1]} descriptors, {daemon[2]} threads   trainer {trainer[0]} KiB, {trainer[1]} descriptors",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "data.tokens")
        path.write_bytes(os.urandom(ROW_BYTES * RECORDS))
        with Daemon(pipeline(path, ROW_BYTES, ROWS, echoed=False), memory="256MiB") as daemon, \
                echoline.Loader("train", "stays", runtime_dir=daemon.runtime_dir) as loader:
            soak(daemon, loader, options)


def soak(daemon, loader, options):
    visitor, total, begin = Visitor(daemon), 0, time.monotonic()
    try:
        while (passed := time.monotonic() - begin) < 60 * options.minutes:
            visitor.start_next_if_ended()
            times = read_for(loader, options.every)
            total += len(times)
            line(f"{passed / 60:5.1f} min", times, options.every, held(daemon.process.pid), held(os.getpid()))
    finally:
        visitor.end()
    print(f"{total} batches, {visitor.count} visitors", flush=True)


if __name__ == "__main__":
    main()
