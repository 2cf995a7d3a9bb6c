"""Photos for each CPU-second out of Parquet files as Hugging Face writes them, with row groups of 100 photos. CPU is all of
the daemon's, in the first epoch with its start and its index pass, and that of the command that reads the batches. `datasets`
counts its loop alone (parquet_loops.py)."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

from suite import peers
from suite.rounds import PATIENCE, Row, Table, children_cpu_seconds, cpu_seconds, interleave
from support import parquet_files, photos
from support.daemon_process import Daemon, stream_yaml

PROGRAMS = ()
LOOPS = pathlib.Path(__file__).with_name("parquet_loops.py")
LATER_EPOCHS = 10
GROUP_ROWS = 100
DECODED = ("decode: {image: {key: image, as: rgb}}", "random_resized_crop: {field: image, size: 224}")
ENCODED = ("decode: {image: {key: image, as: bytes, max_bytes: 1MiB}}",)


def measure_daemon(program, paths, steps):
    """(photos for each CPU-second in the first epoch of a new daemon, in the epochs after it)."""
    os.environ["ECHOLINED"] = str(program)
    urls = ", ".join(f"'{path}'" for path in paths)
    yaml = stream_yaml([f"read: {{url: [{urls}], format: parquet, parquet: {{columns: [image, label]}}}}",
                        "shuffle: {window: 200}", *steps, "batch: {size: 25}", "publish: {slots: 4}"])
    with Daemon(yaml, workers=1, memory="2GiB") as daemon:
        return rate(daemon, 1, 0), rate(daemon, LATER_EPOCHS, cpu_seconds(daemon.process.pid))


def rate(daemon, epochs, before):
    reading = children_cpu_seconds()
    done = daemon.command("read", "train", "--epochs", epochs, "--json")
    report = json.loads(done.stdout.splitlines()[-1])
    used = cpu_seconds(daemon.process.pid) - before + children_cpu_seconds() - reading
    return report["samples"] / used


def measure_datasets(way, paths):
    done = subprocess.run([peers.python("datasets"), "-B", LOOPS, way, *map(str, paths)], capture_output=True, check=True,
                          timeout=PATIENCE)
    report = json.loads(done.stdout.splitlines()[-1])
    return report["photos"] / report["cpu_seconds"]


def table(title, steps, way, paths, options):
    ours, theirs = "Echoline", f"datasets, streaming ({peers.version('datasets', 'datasets')})"
    ways = {ours: functools.partial(measure_daemon, options.daemon, paths, steps)}
    if options.wants(theirs):
        ways[theirs] = functools.partial(measure_datasets, way, paths)
    found = interleave(ways, options.rounds)
    first, later = zip(*found.row(ours).values)
    rows = [Row(f"{ours}, first epoch", first), Row(f"{ours}, later epochs", later)]
    if theirs in ways:
        rows.append(found.row(theirs))
    return Table(title, "photos per CPU-second", rows, (rows[0].name, rows[1].name))


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for tar in photos.shards(folder):
            paths.append(pathlib.Path(folder, f"{tar.stem}.parquet"))
            parquet_files.write(paths[-1], photos.records([tar]), GROUP_ROWS)
        return [table("Photos decoded, cropped and resized", DECODED, "decoded", paths, options),
                table("Photos as they are stored", ENCODED, "encoded", paths, options)]
