"""One run of a stream under one setting, and what `echoline analyze` measures and predicts in it.

The stream reads photos behind a line of a given rate, with a cache of a share of them, echoes them, and a trainer takes a
batch every so often. predictions.py compares the predictions of one run with the rates of others."""
import json
import pathlib
import sys
import threading
import time
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from support.daemon_process import Daemon, stream_yaml  # noqa: E402
from support.photos import Image, jpeg, numpy  # noqa: E402
from support.programs import wait_until  # noqa: E402
from support.tars import write_tar  # noqa: E402

BATCH = 8
RECORDS = 240
SIDES = (1680, 1260)
SECONDS = 5  # of a measurement


class Setting(NamedTuple):
    """`line`: records per second of the store; `trainer`: rows per second that the trainer takes at most."""
    line: float = 100
    trainer: float = 400
    workers: int = 1
    cached: int = 0  # percent
    place: str = "none"
    factor: float = 1

    def what_if(self, base, cached_share):
        """The question that changes `base` into this setting. `cached_share`: of the records, as the cache chose them."""
        changes = [f"workers={self.workers}", f"cache.share={100 * cached_share:.2f}%", f"echo.place={self.place}",
                   f"echo.factor={self.factor}", f"store.rate=x{self.line / base.line:.4f}",
                   f"trainers.rate=x{self.trainer / base.trainer:.4f}"]
        if self.place == "none":
            changes = [change for change in changes if not change.startswith("echo.factor")]
        return ", ".join(changes)


class Photos:
    """One shard of photos that take a worker some milliseconds."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder, "photos.tar")
        files = []
        for place in range(RECORDS):
            draw = numpy.random.default_rng(place)
            small = draw.integers(0, 256, (SIDES[1] // 8, SIDES[0] // 8, 3), dtype=numpy.uint8)
            files.append((f"{place:05d}.jpg", jpeg(Image.fromarray(small, "RGB").resize(SIDES))))
            files.append((f"{place:05d}.cls", b"1"))
        write_tar(self.path, files)
        self.bytes_of_a_record = self.path.stat().st_size / RECORDS


def pipeline(photos, setting):
    size = photos.bytes_of_a_record
    # Records in a cache have some bytes besides their content.
    cache = f"cache: {{memory: {setting.cached / 100 * RECORDS * size:.0f}B}}" if setting.cached else ""
    steps = [f"read: {{url: '{photos.path}', format: webdataset, read_ahead: {32 * size:.0f}B, "
             f"throttle: {{rate: {setting.line * size:.0f}B/s}}}}",
             cache, f"shuffle: {{window: {4 * BATCH}}}",
             "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
             "random_resized_crop: {field: image, size: [160, 160]}", "horizontal_flip: {field: image}",
             f"batch: {{size: {BATCH}}}", "publish: {slots: 4}"]
    places = {"record": 3, "sample": 4, "augmented": 6, "batch": 7}
    if setting.place in places:
        # Two uses of a record are never in one batch.
        window = 4 if setting.place == "batch" else max(8, 3 * (int(setting.factor) - 1)) * BATCH
        steps.insert(places[setting.place], f"echo: {{factor: {setting.factor}, window: {window}}}")
    return stream_yaml(steps)


def work_until(end):
    """Sleeps. A sleep ends a tenth of a millisecond late, so the last part is spent awake."""
    time.sleep(max(0.0, end - time.perf_counter() - 0.0003))
    while time.perf_counter() < end:
        pass


class Trainer:
    """A thread that takes a batch and sleeps until its step is over."""

    def __init__(self, daemon, seconds):
        self.batches, self._ends = 0, threading.Event()
        self._thread = threading.Thread(target=self._train, args=(daemon.runtime_dir, seconds))
        self._thread.start()

    def _train(self, runtime_dir, seconds):
        import echoline
        with echoline.Loader("train", runtime_dir=runtime_dir) as loader:
            while not self._ends.is_set():
                for batch in loader:
                    got = time.perf_counter()
                    self.batches += 1
                    del batch
                    work_until(got + seconds)
                    if self._ends.is_set():
                        break

    def stop(self):
        self._ends.set()
        self._thread.join()


def analysis(daemon, questions):
    """What `echoline analyze` prints, as an object. A run that is only measured goes on as always."""
    asked = [part for question in questions for part in ("--what-if", question)] or ["--let-sleep"]
    return json.loads(daemon.command("analyze", "train", "--for", f"{SECONDS}s", "--json", *asked).stdout)


def measure(photos, setting, questions=()):
    """The analysis of a run under `setting`, with answers to the questions."""
    # Room for the decoded pictures of the largest window.
    with Daemon(pipeline(photos, setting), workers=setting.workers, memory="1280MiB") as daemon:
        trainer = Trainer(daemon, BATCH / setting.trainer)
        try:
            # Behind the first epoch: caches are full, and photos have seek indexes.
            warm = 1.1 * RECORDS / BATCH * setting.factor
            wait_until(lambda: trainer.batches > warm, "an epoch", period=0.05)
            return analysis(daemon, questions)
        finally:
            trainer.stop()

