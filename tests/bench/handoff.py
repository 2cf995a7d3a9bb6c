#!/usr/bin/env python3
"""What it costs to hand a batch over: `echoline read` on a stream of tiny batches and on one of 38 MB batches, with
the records in the page cache. Prints; judges nothing.

    ECHOLINED=... ECHOLINE_CLI=... handoff.py [--seconds N]

The daemon's CPU time includes laying the rows into the ring; batch echo shows the hand-off alone, as a batch is laid
once for its 16 uses."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from daemon_process import Daemon, binary, stream_yaml  # noqa: E402

# name, tokens (2 bytes each) of a record, records, records of a batch
STREAMS = (("tiny", 16, 65_536, 16), ("38 MB", 150_528 // 2, 1024, 256))


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pipeline(path, length, batch, echoed):
    steps = [f"read: {{url: '{path}', format: tokens, tokens: {{length: {length}}}}}", "shuffle: {window: 1024}",
             f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{length}]}}}}", f"batch: {{size: {batch}}}",
             "publish: {slots: 8}"]
    if echoed:
        steps.insert(4, "echo: {factor: 16, window: 2}")
    return stream_yaml(steps)


def read(daemon, batches):
    done = subprocess.run([binary("ECHOLINE_CLI"), "read", "train", "--runtime-dir", str(daemon.runtime_dir), "--json",
                           "--batches", str(batches)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(name, path, length, batch, echoed, seconds):
    with Daemon(pipeline(path, length, batch, echoed), memory="3GiB") as daemon:
        first = read(daemon, 50)
        count = max(50, int(first["batches"] / first["seconds"] * seconds))
        before = cpu_seconds(daemon.process.pid)
        report = read(daemon, count)
        daemon_cpu = cpu_seconds(daemon.process.pid) - before
    gigabytes = report["bytes"] / 1e9
    print(f"{name:>6} {'echoed x 16' if echoed else 'fresh':>11}: {report['batches'] / report['seconds']:9.1f} batches/s "
          f"{gigabytes / report['seconds']:7.3f} GB/s  next() p50 {report['next_p50_us']} us, p99 "
          f"{report['next_p99_us']} us  CPU-s/GB daemon {daemon_cpu / gigabytes:.3f}, trainer "
          f"{report['cpu_seconds'] / gigabytes:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        for name, length, records, batch in STREAMS:
            path = pathlib.Path(folder, "data.tokens")
            path.write_bytes(os.urandom(1 << 20) * (2 * length * records // (1 << 20)))
            for echoed in (False, True):
                measure(name, path, length, batch, echoed, seconds)


if __name__ == "__main__":
    main()
