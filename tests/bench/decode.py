#!/usr/bin/env python3
"""Photos for each CPU-second of the daemon: decode, random_resized_crop to 224 and flip, with one worker, compared with
another build of the daemon and with other libraries, in turn. Prints figures and judges nothing. "Echoline" is a later
epoch, "first" is without seek indexes, as photos are decoded in the first epoch.

    ECHOLINED=... ECHOLINE_CLI=... [ECHOLINE_TEST_DATA=...] decode.py [--old ECHOLINED] [--peer NAME=PYTHON] [--rounds N]

--old is a daemon of another version. --peer runs decode_loops.py: NAME is pillow, simplejpeg (which resizes with
Pillow) or opencv, PYTHON an interpreter that has them; with Pillow-SIMD in place of Pillow, that is what is measured.
CPU is all of the daemon's: plan, fetch, decode, batch and ring, without its start. Peers count their loop alone, in one
process."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from handoff import cpu_seconds  # noqa: E402
from support import photos  # noqa: E402
from support.daemon_process import Daemon, stream_yaml  # noqa: E402

LOOPS = pathlib.Path(__file__).with_name("decode_loops.py")
BATCH = 32
PHOTOS = 100  # in a shard


def stream(paths):
    urls = ", ".join(f"'{path}'" for path in paths)
    return stream_yaml([f"read: {{url: [{urls}], format: webdataset}}", "shuffle: {window: all}",
                        "decode: {image: {key: jpg, as: rgb}}", "random_resized_crop: {field: image, size: 224}",
                        "horizontal_flip: {field: image}", f"batch: {{size: {BATCH}}}", "publish: {slots: 4}"])


def measure_daemon(program, paths, batches, *options):
    """Photos for each CPU-second. A first read, of more than an epoch, fills the page cache and makes the seek indexes."""
    os.environ["ECHOLINED"] = str(program)
    daemon = Daemon(stream(paths), workers=1, memory="1GiB")
    try:
        daemon.start(*options)
        read(daemon, PHOTOS * len(paths) // BATCH + 8)
        before = cpu_seconds(daemon.process.pid)
        report = read(daemon, batches)
        return report["samples"] / (cpu_seconds(daemon.process.pid) - before)
    finally:
        daemon.close()


def read(daemon, batches):
    done = daemon.command("read", "train", "--batches", batches, "--json")
    return json.loads(done.stdout.splitlines()[-1])


def measure_peer(name, python, paths):
    done = subprocess.run([python, LOOPS, name, *map(str, paths)], stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    return report["photos"] / report["cpu_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", help="a daemon of another version")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--shards", type=int, default=5)
    options = parser.parse_args()
    new = os.environ["ECHOLINED"]
    with tempfile.TemporaryDirectory() as folder:
        paths = photos.shards(folder)[:options.shards]
        measures = {"Echoline": lambda: measure_daemon(new, paths, options.batches),
                    "first": lambda: measure_daemon(new, paths, options.batches, "--set", "daemon.seek_index=0")}
        if options.old:
            measures["old"] = lambda: measure_daemon(options.old, paths, options.batches)
        for peer in options.peer:
            name, _, python = peer.partition("=")
            measures[peer] = lambda name=name, python=python: measure_peer(name, python, paths)
        rounds = []
        for _ in range(options.rounds):
            rounds.append({name: measure() for name, measure in measures.items()})
            print("  " + "   ".join(f"{name} {rate:.0f}" for name, rate in rounds[-1].items()), flush=True)
    for name in measures:
        rates = [found[name] for found in rounds]
        ratios = [found["Echoline"] / found[name] for found in rounds]
        print(f"{name}: {statistics.median(rates):.0f} photos per CPU-second ({min(rates):.0f} to {max(rates):.0f}); "
              f"Echoline is {statistics.median(ratios):.2f} times that ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


if __name__ == "__main__":
    main()
