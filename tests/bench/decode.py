"""Photos for each CPU-second: decode, random_resized_crop to 224 and flip, with one worker. CPU is all of the daemon's: plan, fetch, decode, batch and ring, without its start. Other
libraries count their loop alone, in one process; decode_loops.py has the loops."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

from suite import peers
from suite.rounds import PATIENCE, Row, Table, cpu_seconds, interleave
from support import photos
from support.daemon_process import Daemon, stream_yaml

PROGRAMS = ()
LOOPS = pathlib.Path(__file__).with_name("decode_loops.py")
BATCH = 25  # no remainder in an epoch of 500 photos
LATER_EPOCHS = 3
# Name: (set, its package, loop, what is different in its pixels).
PEERS = {
    "simplejpeg and Pillow-SIMD": ("pillow_simd", "pillow-simd", "simplejpeg", ""),
    "Pillow-SIMD": ("pillow_simd", "pillow-simd", "pillow", ""),
    "Pillow": ("pillow", "pillow", "pillow", ""),
    "mlx-data": ("mlx_data", "mlx-data", "mlx_data", ""),
    "DALI": ("dali", "nvidia-dali-cuda120", "dali", ""),
    "tf.data, antialiased": ("tensorflow", "tensorflow-cpu", "tf_data_antialiased", ""),
    "tf.data": ("tensorflow", "tensorflow-cpu", "tf_data", "no antialiasing"),
    "OpenCV": ("opencv", "opencv-python-headless", "opencv", "no antialiasing"),
    "SPDL": ("spdl", "spdl", "spdl", "FFmpeg's filter"),
    "FFCV": ("ffcv", "ffcv", "ffcv", "its own files"),
}


def stream(paths, batch, fast):
    urls = ", ".join(f"'{path}'" for path in paths)
    more = ", fast: true" if fast else ""
    # By default, the first epoch would also read four later epochs of so few photos.
    return stream_yaml([f"read: {{url: [{urls}], format: webdataset, read_ahead: 16MiB}}", "shuffle: {window: all}",
                        f"decode: {{image: {{key: jpg, as: rgb{more}}}}}",
                        "random_resized_crop: {field: image, size: 224}", "horizontal_flip: {field: image}",
                        f"batch: {{size: {batch}}}", "publish: {slots: 4}"])


def measure_daemon(program, paths, batch, fast=False):
    """(photos for each CPU-second in the first epoch of a new daemon, in the epochs after it)."""
    os.environ["ECHOLINED"] = str(program)
    with Daemon(stream(paths, batch, fast), workers=1, memory="2GiB") as daemon:
        return rate(daemon, 1), rate(daemon, LATER_EPOCHS)


def rate(daemon, epochs):
    before = cpu_seconds(daemon.process.pid)
    done = daemon.command("read", "train", "--epochs", epochs, "--json")
    report = json.loads(done.stdout.splitlines()[-1])
    return report["samples"] / (cpu_seconds(daemon.process.pid) - before)


def measure_peer(find_python, loop, paths):
    """The pair of a daemon; other libraries have no later epochs that differ."""
    done = subprocess.run([find_python(), "-B", LOOPS, loop, *map(str, paths)], capture_output=True, check=True,
                          timeout=PATIENCE)
    report = json.loads(done.stdout.splitlines()[-1])
    speed = report["photos"] / report["cpu_seconds"]
    return speed, speed


def ways_of(paths, batch, options, more=None):
    """{loader: function that measures it}; `more` are further entries like those of PEERS."""
    ours = functools.partial(measure_daemon, options.daemon, paths, batch)
    ways = {"Echoline": ours}
    if options.old:
        ways["Echoline, other version"] = functools.partial(measure_daemon, options.old, paths, batch)
    for name, (group, package, loop, pixels) in (PEERS | (more or {})).items():
        details = ", ".join(filter(None, [peers.version(group, package), pixels]))
        ways[f"{name} ({details})"] = functools.partial(measure_peer, functools.partial(peers.python, group), loop, paths)
    ways["torchvision"] = functools.partial(measure_peer, functools.partial(
        peers.debian_python, "torchvision", "python3-torchvision"), "torchvision", paths)
    return {name: way for name, way in ways.items() if name.startswith("Echoline") or options.wants(name)}


def table(title, ways, options):
    """The daemons' pairs become two rows."""
    found = interleave(ways, options.rounds)
    rows = []
    for name in ways:
        row = found.row(name)
        first, later = zip(*row.values) if row.values else ((), ())
        if name.startswith("Echoline") and row.values:
            rows += [Row(f"{name}, first epoch", first), Row(f"{name}, later epochs", later)]
        else:
            rows.append(Row(name, first, row.reason))
    return Table(title, "photos per CPU-second", rows, ("Echoline, first epoch", "Echoline, later epochs"))


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        return [table("Photos of ImageNet's size", ways_of(photos.shards(folder), BATCH, options), options)]
