"""What the account of time costs (docs/metrics.md: stages, steps, waits and their causes): the daemon of this build and one
built with ECHOLINE_ACCOUNT=OFF, in turn, over records of three sizes. The smallest cost most, because each row is counted."""
import functools
import json
import os
import pathlib
import tempfile

from suite import build
from suite.rounds import Table, cpu_seconds, interleave
from support import photos
from support.daemon_process import Daemon, stream_yaml

PROGRAMS = ()
SECONDS = 2  # of each turn
BATCH = 64
WITH, WITHOUT = "with the account", "without it"


def arrays(folder, length):
    """A stream of `length` numbers of 2 bytes a record, all of them in the page cache."""
    path = pathlib.Path(folder, f"numbers-{length}.bin")
    path.write_bytes(os.urandom(2 * length * BATCH * 512))
    return stream_yaml([f"read: {{url: '{path}', format: tokens, tokens: {{length: {length}}}}}", "shuffle: {window: all}",
                        f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{length}]}}}}", f"batch: {{size: {BATCH}}}"])


def pictures(folder):
    urls = ", ".join(f"'{path}'" for path in photos.shards(folder))
    return stream_yaml([f"read: {{url: [{urls}], format: webdataset}}", "shuffle: {window: all}",
                        "decode: {image: {key: jpg, as: rgb}}", "random_resized_crop: {field: image, size: 224}",
                        "horizontal_flip: {field: image}", f"batch: {{size: {BATCH}}}"])


def read(daemon, batches):
    """(rows per second, rows for each CPU-second of the daemon)"""
    cpu = cpu_seconds(daemon.process.pid)
    report = json.loads(daemon.command("read", "train", "--json", "--batches", batches).stdout.splitlines()[-1])
    return report["samples"] / report["seconds"], report["samples"] / (cpu_seconds(daemon.process.pid) - cpu)


def turn(stream, program, seconds):
    """read() for about `seconds`, of a new daemon: which memory a process gets changes its speed by a few percent."""
    os.environ["ECHOLINED"] = str(program)
    with Daemon(stream, workers=1, memory="1GiB") as daemon:
        # A short read shows the start of the reader, and what was read ahead when it left.
        batches, took = 16, 0
        while took < seconds / 4:
            batches *= 4
            took = batches * BATCH / read(daemon, batches)[0]
        return read(daemon, int(batches * seconds / took) + 1)


def tables(name, stream, programs, options):
    seconds = 0.2 if options.quick else SECONDS
    found = interleave({way: functools.partial(turn, stream, program, seconds) for way, program in programs.items()},
                       options.rounds)
    return [Table(f"{name}: rate", "rows/s", found.rows(lambda pair: pair[0]), (WITHOUT,)),
            Table(f"{name}: CPU time", "rows per CPU-second", found.rows(lambda pair: pair[1]), (WITHOUT,))]


def measure(options):
    programs = {WITH: options.daemon, WITHOUT: options.old or build.without_account()}
    with tempfile.TemporaryDirectory() as folder:
        streams = {"Records of 128 bytes": arrays(folder, 64), "Records of 3 KB, as CIFAR-10": arrays(folder, 1536),
                   "Photos of ImageNet's size": pictures(folder)}
        return [table for name, stream in streams.items() for table in tables(name, stream, programs, options)]
