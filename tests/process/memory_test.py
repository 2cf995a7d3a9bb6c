#!/usr/bin/env python3
"""Memory from outside: the daemon's memory stays below `daemon.memory` plus a stated base, for any photos and any
trainers.

The base is BASE (programs and libraries are 21 MiB of it) plus, for each worker, 1.5 times the largest decoded photo:
workers decode into their own buffers, which belong to no stream."""
import os
import random
import time
import unittest

from PIL import Image

from support import memory_use, photos
from support.daemon_process import Daemon, stream_yaml
from support.memory_use import MIB
from support.photos import numpy
from support.process_case import ProcessCase, main
from support.programs import PATIENCE
from support.records import DECODE
from support.tars import write_tar

from memcached_server import Memcached  # of tests/servers

BASE = 48 * MIB
WORKERS = 2
LARGEST = 3000  # pixels; photos have 100 to LARGEST on a side


def smooth_photo(seed, width, height):
    """A photo that is cheap to make even if it is large."""
    random_bytes = numpy.random.default_rng(seed).integers(0, 256, (height // 16 + 2, width // 16 + 2, 3))
    image = Image.fromarray(random_bytes.astype(numpy.uint8), "RGB").resize((width, height), Image.BILINEAR)
    return photos.jpeg(image, 85)


def write_shard(path, sizes, seed=0):
    files = []
    for place, (width, height) in enumerate(sizes):
        files += [(f"{place:04d}.jpg", smooth_photo(seed + place, width, height)),
                  (f"{place:04d}.cls", str(place % 10).encode())]
    write_tar(path, files)
    return path


def mixed_sizes(count, seed=3):
    """Many small photos and a few large ones, as in collections from many sources."""
    draw = random.Random(seed)
    return [tuple(min(LARGEST, int(100 * (LARGEST / 100) ** draw.random() * draw.uniform(1, 1.4)))
                  for _ in "wh") for _ in range(count)]


def pipeline(url, point, window=80, batch=8, slots=4):
    steps = [f"read: {{url: '{url}', format: webdataset, read_ahead: 2MiB}}", "shuffle: {window: 60}",
             "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
             "random_resized_crop: {field: image, size: [64, 64]}", "horizontal_flip: {field: image}",
             f"batch: {{size: {batch}, last: partial}}", f"publish: {{slots: {slots}}}"]
    echo = f"echo: {{factor: 2, window: {4 if point == 'batch' else window}}}"
    if point:  # without one there is no echo
        steps.insert({"record": 2, "sample": 3, "augmented": 5, "batch": 6}[point], echo)
    return stream_yaml(steps)


def allowed(memory, largest_side=LARGEST):
    return memory + BASE + WORKERS * largest_side * largest_side * 3 * 3 // 2


class Memory(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.mixed = write_shard(cls.class_folder() / "mixed.tar", mixed_sizes(100))

    def check_highest(self, url, point, memory, epochs):
        """Reads the epochs and checks the daemon's highest use; (batches with checksums of the rows, the daemon's log)."""
        with Daemon(pipeline(url, point), memory=f"{memory}B", workers=WORKERS) as daemon:
            with memory_use.Highest(daemon.process.pid) as highest:
                batches = daemon.read("--epochs", epochs, "--row-checksums")
            print(f"{point} echo, {memory / MIB:.0f} MiB: {memory_use.in_mib(highest.use)}, allowed "
                  f"{allowed(memory) / MIB:.0f} MiB", flush=True)
            self.assertLess(memory_use.total(highest.use), allowed(memory))
            return batches, daemon.log()

    def test_on_photos_of_mixed_size_it_stays_below_the_budget(self):
        """The next test has the other echo points."""
        for point, memory, epochs in (("record", 24, 2), ("batch", 24, 2), ("sample", 128, 3)):
            with self.subTest(point=point):
                self.check_highest(self.mixed, point, memory * MIB, epochs)

    def test_a_window_that_does_not_fit_decoded_changes_only_the_cost(self):
        """The wide budget has room for all decoded samples, the narrow one for almost none."""
        for point in ("sample", "augmented"):
            with self.subTest(point=point):
                wide, wide_log = self.check_highest(self.mixed, point, 1024 * MIB, 2)
                narrow, narrow_log = self.check_highest(self.mixed, point, 20 * MIB, 2)
                self.assertEqual(narrow, wide)
                self.assertNotIn("decoded again", wide_log)
                if point == "sample":
                    self.assertIn("decoded again", narrow_log)

    def test_real_photos_stay_below_the_budget(self):
        paths = photos.shards(self.folder())
        url = str(paths[0].parent / (paths[0].name.rpartition("-")[0] + f"-{{000000..{len(paths) - 1:06d}}}.tar"))
        self.check_highest(url, "sample", 48 * MIB, 1)

    def test_a_budget_without_room_for_a_pass_is_refused_at_the_start_with_the_numbers(self):
        log = self.refused(pipeline(self.mixed, "sample"), memory="2MiB")
        self.assertIn("MiB", log.splitlines()[-1])

    def test_the_kernel_kills_nothing_under_a_limit_of_budget_and_base(self):
        memory = 24 * MIB
        try:
            group = memory_use.MemoryGroup(allowed(memory))
        except OSError as why:
            self.skipTest(f"no memory limit can be made here: {why}")
        daemon = Daemon(pipeline(self.mixed, "sample"), memory=f"{memory}B", workers=WORKERS)
        try:
            daemon.spawn()
            group.adopt(daemon.process.pid)
            batches = daemon.await_ready().read("--epochs", 3)
            self.assertEqual(len(batches), 3 * 25)
            self.assertEqual(group.kills(), 0)
            print(f"most in the group: {group.number('memory.max_usage_in_bytes') / MIB:.0f} of "
                  f"{allowed(memory) / MIB:.0f} MiB, at the limit {group.number('memory.failcnt')} times", flush=True)
        finally:
            daemon.close()
            group.remove()

    def test_memory_comes_back_after_a_giant_photo(self):
        giant = 7000
        sizes = [(300, 200)] * 30
        sizes[15] = (giant, giant)
        url = write_shard(self.folder() / "giant.tar", sizes)
        for point in ("", "sample"):
            with self.subTest(point=point), Daemon(pipeline(url, point, window=28, batch=2), memory="64MiB",
                                                   workers=WORKERS) as daemon:
                memory_use.reset_peak(daemon.process.pid)
                with memory_use.Highest(daemon.process.pid) as highest:
                    daemon.read("--epochs", 3)
                pixels, peak = giant * giant * 3, memory_use.peak(daemon.process.pid)
                self.assertLess(memory_use.total(highest.use), allowed(64 * MIB, giant))
                # Other photos replace it in the workers' buffers.
                after = self.lowest_while_reading(daemon)
                print(f"giant of {pixels / MIB:.0f} MiB, {point or 'no'} echo: {memory_use.in_mib(highest.use)}, then "
                      f"{memory_use.in_mib(after)}", flush=True)
                self.assertLess(memory_use.total(after), 64 * MIB + BASE)
                # Without echo, only its crops are decoded.
                self.assertGreater(peak, memory_use.total(after) + pixels / 3, "the giant photo was never decoded")

    def lowest_while_reading(self, daemon):
        lowest = memory_use.use(daemon.process.pid)
        reader = daemon.reader("--epochs", 3, "--job", "after")
        deadline = time.monotonic() + PATIENCE
        while reader.poll() is None and time.monotonic() < deadline:
            lowest = min(lowest, memory_use.use(daemon.process.pid), key=memory_use.total)
            time.sleep(0.002)
        reader.communicate()
        self.assertEqual(reader.returncode, 0)
        return lowest


class LargeRecords(ProcessCase):
    """Records of 20 MiB, and of all sizes up to it, from a store that sends many at once, with every kind of cache: the
    smallest budget with which the daemon starts is enough."""

    @classmethod
    def setUpClass(cls):
        draw = random.Random(11)
        cls.large = cls.shard("large", [20 * MIB] * 14)
        cls.mixed = cls.shard("mixed", [int(20_000 * 1000 ** draw.random() ** 1.5) for _ in range(120)])

    @classmethod
    def shard(cls, name, sizes):
        """Records of a small array, a label and `sizes` bytes that no step decodes."""
        ballast = random.Random(5).randbytes(max(sizes))
        files = []
        for place, size in enumerate(sizes):
            files += [(f"{place:04d}.u8", ballast[place:place + 64]), (f"{place:04d}.cls", str(place).encode()),
                      (f"{place:04d}.pad", ballast[:size])]
        path = cls.class_folder() / f"{name}.tar"
        write_tar(path, files)
        return path

    def stream(self, url, cache="", read_ahead=60 * MIB, batch=2, echo=""):
        steps = [f"read: {{url: '{url}', format: webdataset, read_ahead: {read_ahead}B, "
                 "throttle: {rate: 2GB/s, latency: 200ms}}", cache and f"cache: {cache}", "shuffle: {window: 10}", echo, DECODE,
                 f"batch: {{size: {batch}, last: partial}}", "publish: {slots: 4}"]
        return stream_yaml(steps)

    def check_use(self, what, stream, memory, epochs=2):
        with Daemon(stream, memory=f"{memory}B", workers=WORKERS) as daemon:
            with memory_use.Highest(daemon.process.pid) as highest:
                daemon.read("--epochs", epochs)
            print(f"{what}: {memory_use.in_mib(highest.use)}, allowed {(memory + BASE) / MIB:.0f} MiB", flush=True)
            self.assertLess(memory_use.total(highest.use), memory + BASE)

    def disk(self):
        return f"{{disk: {{path: '{self.folder()}', size: 1GiB}}}}"

    def test_memory_stays_below_the_budget_also_if_a_batch_exceeds_the_read_ahead(self):
        self.check_use("large", self.stream(self.large), 62 * MIB)
        self.check_use("mixed, batches of 16", self.stream(self.mixed, read_ahead=24 * MIB, batch=16), 72 * MIB)

    def test_memory_stays_below_the_budget_with_record_echo(self):
        self.check_use("mixed, echoed", self.stream(self.mixed, echo="echo: {factor: 2, window: 24}"), 240 * MIB)

    def test_memory_stays_below_the_budget_with_a_cache_in_memory(self):
        self.check_use("large, memory", self.stream(self.large, "{memory: 120MiB}"), 184 * MIB, epochs=3)

    def test_memory_stays_below_the_budget_with_a_cache_on_disk(self):
        self.check_use("large, disk", self.stream(self.large, self.disk()), 94 * MIB, epochs=3)
        self.check_use("mixed, disk", self.stream(self.mixed, self.disk(), batch=8), 94 * MIB, epochs=3)

    def test_memory_stays_below_the_budget_with_a_fleet_cache(self):
        with Memcached(megabytes=1024) as server:
            self.check_use("large, fleet", self.stream(self.large, f"{{fleet: ['{server.address}']}}"), 146 * MIB, epochs=3)


@unittest.skipUnless(os.environ.get("ECHOLINE_LIBRARY"), "ECHOLINE_LIBRARY names no client library")
class PythonTrainers(ProcessCase):
    @classmethod
    def setUpClass(cls):
        url = write_shard(cls.class_folder() / "small.tar", [(120, 100)] * 40)
        cls.daemon = cls.enterClassContext(Daemon(pipeline(url, "sample", window=36, slots=4)))

    def loader(self, job, **options):
        import echoline
        return echoline.Loader("train", job, runtime_dir=self.daemon.runtime_dir, **options)

    def test_a_list_of_all_batches_raises_lease_held_which_says_what_to_do(self):
        import echoline
        with self.loader("list") as loader:
            with self.assertRaises(echoline.LeaseHeld) as caught:
                list(loader)
        self.assertIn("copy", str(caught.exception))
        self.assertIn("slots", str(caught.exception))

    def test_a_trainer_may_keep_copies_of_all_batches(self):
        with self.loader("copies") as loader:
            kept = [batch.copy() for batch in loader]
            self.assertEqual(len(kept), len(loader))
        self.assertEqual([batch.step for batch in kept], list(range(10)))

    def test_a_state_taken_inside_the_loop_resumes_at_the_next_batch(self):
        with self.loader("states") as loader:
            seen = [(batch.step, batch.sample_ids.tolist(), batch["image"].copy(), loader.state_dict())
                    for batch in loader]
        for at in (0, 4, 8):
            with self.loader(f"resumed{at}", state=seen[at][3]) as loader:
                batch = next(iter(loader))
                step, ids, pixels, _ = seen[at + 1]
                self.assertEqual((batch.step, batch.sample_ids.tolist()), (step, ids))
                self.assertTrue(numpy.array_equal(batch["image"], pixels))
        with self.loader("next-epoch", state=seen[-1][3]) as loader:
            batch = next(iter(loader))
            self.assertEqual((batch.epoch, batch.step), (1, 0))


if __name__ == "__main__":
    main()
