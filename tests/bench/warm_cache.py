#!/usr/bin/env python3
"""The rate of a warm cache: `echoline read` on a stream of 110 KB records that are in the disk cache, in the memory cache, or
in the local source file, all of it in the page cache. Prints figures and judges nothing.

    ECHOLINED=... ECHOLINE_CLI=... warm_cache.py [--seconds N] [--megabytes N]

CPU is the daemon's CPU time, from the record's bytes to the row in the ring; `read` is one thread that reads the file
sequentially into one buffer, in the same run."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from support.cached_daemon import CachedDaemon  # noqa: E402
from support.daemon_process import stream_yaml  # noqa: E402
from support.programs import binary  # noqa: E402
from handoff import cpu_seconds  # noqa: E402

LENGTH = 55_296  # of 2 bytes
BATCH = 64


def stream(path, cache):
    steps = [f"read: {{url: '{path}', format: tokens, tokens: {{length: {LENGTH}}}}}", f"cache: {cache}" if cache else "",
             "shuffle: {window: all}", f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{LENGTH}]}}}}",
             f"batch: {{size: {BATCH}}}", "publish: {slots: 8}"]
    return stream_yaml(steps)


def read(daemon, batches):
    done = subprocess.run([binary("ECHOLINE_CLI"), "read", "train", "--runtime-dir", str(daemon.runtime_dir), "--json",
                           "--batches", str(batches)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def plain_read(path):
    """GB/s of one thread."""
    buffer = bytearray(1 << 20)
    begin, size = time.monotonic(), 0
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            size += count
    return size / 1e9 / (time.monotonic() - begin)


def measure(name, path, cache, seconds, epoch_batches):
    with CachedDaemon(stream(path, cache), memory="4GiB") as daemon:
        first = read(daemon, epoch_batches + 16)  # fills the cache
        time.sleep(3)
        read(daemon, epoch_batches)
        count = max(32, int(first["batches"] / first["seconds"] * seconds))
        before, from_store = cpu_seconds(daemon.process.pid), daemon.store_bytes()
        report = read(daemon, count)
        cpu, from_store = cpu_seconds(daemon.process.pid) - before, daemon.store_bytes() - from_store
    gigabytes = report["bytes"] / 1e9
    print(f"{name:>7}: {gigabytes / report['seconds']:6.2f} GB/s, {cpu / gigabytes:.3f} CPU-s/GB, "
          f"{from_store / 1e9 / gigabytes:.3f} of it from the store", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--megabytes", type=int, default=800)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tokens.bin")
        epoch = arguments.megabytes * 1_000_000 // (2 * LENGTH * BATCH)
        with open(path, "wb") as out:
            for _ in range(epoch * BATCH):
                out.write(os.urandom(2 * LENGTH))
        print(f"   read: {plain_read(path):6.2f} GB/s, one thread in a row", flush=True)
        disk = f"{{disk: {{path: {folder}/cache, size: {2 * arguments.megabytes}MB}}}}"
        for name, cache in (("file", ""), ("disk", disk), ("memory", f"{{memory: {2 * arguments.megabytes}MB}}")):
            measure(name, path, cache, arguments.seconds, epoch)


if __name__ == "__main__":
    main()
