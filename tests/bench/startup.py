"""Seconds from the start of a new daemon until a trainer has its first batch, over tars of photos: with no index yet, and
with the index that an earlier daemon has left. The trainer, `echoline read`, is started when the daemon is ready."""
import functools
import os
import pathlib
import tempfile
import time

from suite.rounds import Table, interleave
from support import photos
from support.daemon_process import Daemon, stream_yaml

PROGRAMS = ()


def stream(paths):
    urls = ", ".join(f"'{path}'" for path in paths)
    return stream_yaml([f"read: {{url: [{urls}], format: webdataset}}", "shuffle: {window: all}",
                        "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                        "random_resized_crop: {field: image, size: 224}", "horizontal_flip: {field: image}",
                        "batch: {size: 16}", "publish: {slots: 4}"])


def seconds_to_first_batch(program, paths, folder):
    """(until the daemon is ready, until `echoline read` has ended after one batch)."""
    os.environ["ECHOLINED"] = program
    (folder / "run").mkdir(parents=True, exist_ok=True)
    (folder / "run/trainers.json").unlink(missing_ok=True)  # the last daemon's: this one would wait for its trainers
    begin = time.monotonic()
    with Daemon(stream(paths), folder=folder) as daemon:
        ready = time.monotonic() - begin
        done = daemon.command("read", "train", "--batches", 1)
        if done.returncode != 0:
            raise RuntimeError(f"echoline read failed: {done.stderr}")
        return ready, time.monotonic() - begin


def without_index(program, paths):
    with tempfile.TemporaryDirectory() as folder:
        return seconds_to_first_batch(program, paths, pathlib.Path(folder))


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        paths = photos.made_shards(folder, 1, 20) if options.quick else photos.shards(folder)
        ways = {}
        for name, program in (("Echoline", options.daemon), ("Echoline, other version", options.old)):
            if program:
                kept = pathlib.Path(folder, name)
                seconds_to_first_batch(program, paths, kept)  # makes the index
                ways[f"{name}, no index"] = functools.partial(without_index, program, paths)
                ways[f"{name}, with index"] = functools.partial(seconds_to_first_batch, program, paths, kept)
        found = interleave(ways, options.rounds)
    return [Table("A new daemon is ready", "seconds", found.rows(lambda result: result[0]), more_is_better=False),
            Table("The first batch of a new daemon", "seconds", found.rows(lambda result: result[1]), more_is_better=False)]
