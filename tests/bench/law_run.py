"""One point of the systems law: a stream of real photos behind a line of a given rate, echoed by a factor, read by a
trainer of a given speed; and the period that the law predicts.

Time for one fresh batch and its e uses = max(t_up, e * t_down), where t_up is the time of the line for a batch of
fresh records and t_down the time of the trainer for one step."""
import pathlib
import sys
import time
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from support.daemon_process import Daemon, stream_yaml  # noqa: E402
from support.photos import Image, jpeg, numpy  # noqa: E402
from support.tars import write_tar  # noqa: E402

POINTS = ("record", "sample", "augmented", "batch")
BATCH = 8
SIDE = 112
EPOCHS = 4  # measured from the end of the first to the end of the fourth: three borders


class Point(NamedTuple):
    """`ratio` is R, `factor` is e."""
    place: str
    ratio: float
    factor: float
    t_up: float = 0.06


class Seen(NamedTuple):
    period: float  # seconds for a fresh batch and its uses
    law: float     # the predicted period
    t_down: float  # of the trainer's step, as measured
    wait: float    # share of the trainer's time

    @property
    def deviation(self):
        return self.period / self.law - 1


def with_attached(photo, size):
    """The photo with `size` bytes of application data after its start, as cameras add them: such records are slow to
    fetch and cheap to decode."""
    return photo[:2] + b"\xff\xef" + (size + 2).to_bytes(2, "big") + bytes(size) + photo[2:]


class Photos:
    """`count` photos of one size in one shard: cheap to decode, large to fetch."""

    def __init__(self, folder, count=240):
        self.count, self.path = count, pathlib.Path(folder, "law.tar")
        files = []
        for place in range(count):
            pixels = numpy.random.default_rng(place).integers(0, 256, (SIDE, SIDE, 3), dtype=numpy.uint8)
            files += [(f"{place:05d}.jpg", with_attached(jpeg(Image.fromarray(pixels, "RGB")), 60_000)),
                      (f"{place:05d}.cls", b"1")]
        write_tar(self.path, files)

    def bytes_of_a_batch(self):
        return self.path.stat().st_size / self.count * BATCH


def pipeline(photos, point):
    uses = max(2, -int(-point.factor // 1))
    window = 4 if point.place == "batch" else max(4, 3 * (uses - 1)) * BATCH
    ahead = (window if point.place != "batch" else 0) / BATCH + 8  # compensates an epoch's first and last window
    rate = photos.bytes_of_a_batch() / point.t_up
    steps = [f"read: {{url: '{photos.path}', format: webdataset, "
             f"read_ahead: {ahead * photos.bytes_of_a_batch():.0f}B, throttle: {{rate: {rate:.0f}B/s}}}}",
             f"shuffle: {{window: {4 * BATCH}}}",
             "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
             "random_resized_crop: {field: image, size: [64, 64]}", "horizontal_flip: {field: image}",
             f"batch: {{size: {BATCH}}}", "publish: {slots: 4}"]
    steps.insert({"record": 2, "sample": 3, "augmented": 5, "batch": 6}[point.place],
                 f"echo: {{factor: {point.factor}, window: {window}}}")
    return stream_yaml(steps)


def train(loader, seconds):
    """[(epoch, wait, work, end)] of every step; each works for `seconds`."""
    steps = []
    for _ in range(EPOCHS):
        asked = time.perf_counter()
        for batch in loader:
            got = time.perf_counter()
            epoch = batch.epoch
            del batch
            time.sleep(max(0.0, got + seconds - time.perf_counter()))
            done = time.perf_counter()
            steps.append((epoch, got - asked, done - got, done))
            asked = done
    return steps


def measure(photos, point):
    import echoline
    with Daemon(pipeline(photos, point), memory="256MiB") as daemon:
        with echoline.Loader("train", runtime_dir=daemon.runtime_dir) as loader:
            steps = train(loader, point.t_up / point.ratio)
    begin = max(end for epoch, _, _, end in steps if epoch == 0)
    counted = [step for step in steps if step[0] > 0]
    seconds = counted[-1][3] - begin
    fresh_batches = (EPOCHS - 1) * photos.count / BATCH
    t_down = sum(work for _, _, work, _ in counted) / len(counted)
    uses = len(counted) / fresh_batches
    return Seen(period=seconds / fresh_batches, law=max(point.t_up, uses * t_down), t_down=t_down,
                wait=sum(wait for _, wait, _, _ in counted) / seconds)


def report(point, seen):
    print(f"{point.place:>9}  R {point.ratio:4.1f}  e {point.factor:4.1f}  law {seen.law * 1000:6.1f} ms  "
          f"seen {seen.period * 1000:6.1f} ms  {seen.deviation * 100:+5.1f} %  waits {seen.wait * 100:3.0f} %",
          flush=True)
