"""The quick start (deploy/quickstart.sh) with `factor: auto` and with fixed factors: seconds from the start of a daemon until
its trainer has a test loss of 0.50 on Fashion-MNIST, behind a line four times too slow. Each round has its own seed, for the
order and for the weights, and all factors run once with it."""
import functools
import gzip
import itertools
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from suite.rounds import Row, Table, Unavailable, interleave, say
from support.daemon_process import Daemon, stream_yaml
from support.programs import binary, run_echoline

PROGRAMS = ("TRAIN_FASHION_MNIST",)
FACTORS, AUTO = (1, 2, 3, 4, 6), "auto"
RATIO = 4      # R: the line gives so many times less than the trainer takes
LOSS, QUICK_LOSS = 0.50, 0.60
IMAGES = 60_000


class FashionMnist:
    """Shards of the training set, and the files of the test set."""

    def __init__(self, folder):
        listed = subprocess.run(["dpkg", "-L", "dataset-fashion-mnist"], capture_output=True, text=True, check=False).stdout
        files = {name: pathlib.Path(line) for line in listed.splitlines() if (name := pathlib.Path(line).name).endswith(".gz")}
        if not files:
            raise Unavailable("Debian's dataset-fashion-mnist is not installed")
        self.folder = pathlib.Path(folder)
        packed = run_echoline("pack", "--from", "idx", "--output", self.folder, "--name", "train", "--shard-records", 10_000,
                              "--shuffle", files["train-images-idx3-ubyte.gz"], files["train-labels-idx1-ubyte.gz"])
        if packed.returncode != 0:
            raise Unavailable(f"echoline pack failed: {packed.stderr}")
        self.shards = sorted(self.folder.glob("train-*.tar"))
        self.test = [part for name in ("images-idx3", "labels-idx1") for part in self._test_file(files, name)]

    def _test_file(self, files, name):
        unpacked = self.folder / name
        unpacked.write_bytes(gzip.decompress(files[f"t10k-{name}-ubyte.gz"].read_bytes()))
        return f"--test-{name.partition('-')[0]}", str(unpacked)

    def bytes_of_an_image(self):
        return sum(shard.stat().st_size for shard in self.shards) / IMAGES


def pipeline(data, factor, seed, rate=None):
    """The quick start's. `rate`: images per second of the line."""
    throttle = f", throttle: {{rate: {rate * data.bytes_of_an_image():.0f}B/s}}" if rate else ""
    most = f", max: {FACTORS[-1]}" if factor == AUTO else ""
    return stream_yaml(
        [f"read: {{url: '{data.folder}/train-*.tar', format: webdataset{throttle}}}", "shuffle: {window: 10000}",
         "decode: {image: {key: u8, as: uint8, shape: [28, 28, 1]}, label: {key: cls, as: int64}}",
         f"echo: {{factor: {factor}{most}, window: 10000}}", "random_crop: {field: image, size: 28, padding: 3}",
         "horizontal_flip: {field: image}", "cutout: {field: image, size: 8}", "batch: {size: 128, last: drop}",
         "publish: {slots: 16}"], seed=seed)


def train(data, daemon, *more):
    return subprocess.run([binary("TRAIN_FASHION_MNIST"), *data.test, "--runtime-dir", str(daemon.runtime_dir), *more],
                          capture_output=True, text=True, check=True).stdout


def trainers_rate(data):
    """Images per second that the trainer takes when it never waits."""
    with Daemon(pipeline(data, 4, 1), memory="1GiB") as daemon:
        return float(train(data, daemon, "--measure-rate"))


def time_to_target(data, factor, rate, loss, seeds):
    seed, begin = next(seeds), time.time()
    with Daemon(pipeline(data, factor, seed, rate), memory="1GiB") as daemon:
        found = json.loads(train(data, daemon, "--target", str(loss), "--seed", str(seed), "--clock-from", f"{begin:.3f}", "--json"))
    say(f"factor {factor}, seed {seed}: {found['seconds']:.2f} s, {found['fresh_images']} fresh, "
        f"{found['images'] / found['fresh_images']:.2f} uses, waits {found['stall_share'] * 100:.0f} %")
    return found


def seconds_of(result):
    return result["seconds"]


def measure(options):
    factors = (4, AUTO) if options.quick else (*FACTORS, AUTO)
    with tempfile.TemporaryDirectory() as folder:
        data = FashionMnist(folder)
        rate = trainers_rate(data)
        say(f"the trainer takes {rate:.0f} images per second")
        found = interleave({f"factor: {factor}": functools.partial(
            time_to_target, data, factor, rate / RATIO, QUICK_LOSS if options.quick else LOSS, itertools.count(1))
            for factor in factors}, options.rounds)
    auto = f"factor: {AUTO}"
    rows = found.rows(seconds_of)
    times = {row.name: row.values for row in rows if row.values and row.name != auto}
    if not times or auto not in found.results:
        return [Table("Time to the target", "seconds", rows, more_is_better=False)]
    best = min(times, key=lambda name: statistics.median(times[name]))
    relative = [seconds_of(result) / seconds for result, seconds in zip(found.results[auto], times[best])]
    return [Table("Time to the target", "seconds", rows, more_is_better=False,
                  note=f"The line gives {rate / RATIO:,.0f} images per second."),
            Table("Fresh images until then", "thousands", found.rows(lambda result: result["fresh_images"] / 1000), more_is_better=False),
            Table("Time with auto", f"relative to `{best}`, in the same round", [Row(auto, relative)], more_is_better=False)]
