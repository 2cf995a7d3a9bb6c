#!/usr/bin/env python3
"""Memory from outside: what the daemon holds stays below `daemon.memory` plus a stated base, whatever is in the
photos and whatever trainers do.

The base is BASE (programs and libraries are 21 MiB of it) plus, for each worker, the largest photo decoded with
half as much again for what lies around it: workers decode into buffers of their own, which belong to no stream."""
import os
import pathlib
import random
import sys
import tempfile
import time
import unittest

import line_photos
import memory_use
from daemon_process import PATIENCE, TESTS, Daemon, stream_yaml
from line_photos import numpy
from memory_use import MIB
from PIL import Image

sys.path.insert(0, str(TESTS / "servers"))
from memcached_server import Memcached  # noqa: E402

BASE = 48 * MIB
WORKERS = 2
LARGEST = 3000  # pixels; photos have 100 to LARGEST on a side
POINTS = ("record", "sample", "augmented", "batch")


def smooth_photo(seed, width, height):
    """Cheap to make, also where it is large."""
    random_bytes = numpy.random.default_rng(seed).integers(0, 256, (height // 16 + 2, width // 16 + 2, 3))
    image = Image.fromarray(random_bytes.astype(numpy.uint8), "RGB").resize((width, height), Image.BILINEAR)
    return line_photos.jpeg(image, 85)


def write_shard(path, sizes, seed=0):
    files = []
    for place, (width, height) in enumerate(sizes):
        files += [(f"{place:04d}.jpg", smooth_photo(seed + place, width, height)),
                  (f"{place:04d}.cls", str(place % 10).encode())]
    line_photos.write_tar(path, files)
    return path


def mixed_sizes(count, seed=3):
    """Many small ones and a few large, as in collections from everywhere."""
    draw = random.Random(seed)
    return [tuple(min(LARGEST, int(100 * (LARGEST / 100) ** draw.random() * draw.uniform(1, 1.4)))
                  for _ in "wh") for _ in range(count)]


def pipeline(url, point, window=80, batch=8, slots=4):
    steps = [f"read: {{url: '{url}', format: webdataset, read_ahead: 2MiB}}", "shuffle: {window: 60}",
             "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
             "random_resized_crop: {field: image, size: [64, 64]}", "horizontal_flip: {field: image}",
             f"batch: {{size: {batch}, last: partial}}", f"publish: {{slots: {slots}}}"]
    echo = f"echo: {{factor: 2, window: {4 if point == 'batch' else window}}}"
    if point:
        steps.insert({"record": 2, "sample": 3, "augmented": 5, "batch": 6}[point], echo)
    return stream_yaml(steps)


def allowed(memory, largest_side=LARGEST):
    return memory + BASE + WORKERS * largest_side * largest_side * 3 * 3 // 2


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.mixed = write_shard(pathlib.Path(cls.folder.name, "mixed.tar"), mixed_sizes(100))

    def highest(self, url, point, memory, epochs):
        """(batches with checksums of the rows, the daemon's use at its highest)"""
        with Daemon(pipeline(url, point), memory=f"{memory}B", workers=WORKERS) as daemon:
            with memory_use.Highest(daemon.process.pid) as highest:
                batches = daemon.read("--epochs", epochs, "--row-checksums")
            print(f"{point} echo, {memory / MIB:.0f} MiB: {memory_use.in_mib(highest.use)}, allowed "
                  f"{allowed(memory) / MIB:.0f} MiB", flush=True)
            self.assertLess(memory_use.total(highest.use), allowed(memory))
            return batches, daemon.log()

    def test_on_photos_of_mixed_size_it_stays_below_the_budget_at_every_echo_point(self):
        for point in POINTS:
            with self.subTest(point=point):
                self.highest(self.mixed, point, 24 * MIB, 2)
        self.highest(self.mixed, "sample", 128 * MIB, 3)

    def test_a_window_that_does_not_fit_decoded_changes_the_cost_and_nothing_else(self):
        """The budget of the first has room for all, that of the second for almost none."""
        for point in ("sample", "augmented"):
            with self.subTest(point=point):
                wide, wide_log = self.highest(self.mixed, point, 1024 * MIB, 2)
                narrow, narrow_log = self.highest(self.mixed, point, 20 * MIB, 2)
                self.assertEqual(narrow, wide)
                self.assertNotIn("decoded again", wide_log)
                if point == "sample":
                    self.assertIn("decoded again", narrow_log)

    def test_real_photos_stay_below_the_budget(self):
        paths = line_photos.shards(self.folder.name)
        url = str(paths[0].parent / (paths[0].name.rpartition("-")[0] + f"-{{000000..{len(paths) - 1:06d}}}.tar"))
        self.highest(url, "sample", 48 * MIB, 1)

    def test_a_budget_that_holds_no_pass_is_refused_at_the_start_with_the_numbers(self):
        daemon = Daemon(pipeline(self.mixed, "sample"), memory="2MiB")
        self.addCleanup(daemon.__exit__)
        code, log = daemon.run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn("MiB", log.splitlines()[-1])

    def test_under_a_limit_of_the_kernel_for_budget_and_base_nothing_is_killed(self):
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
            daemon.__exit__()
            group.remove()

    def test_a_giants_memory_comes_back_after_it(self):
        giant = 7000
        sizes = [(300, 200)] * 30
        sizes[15] = (giant, giant)
        url = write_shard(pathlib.Path(self.folder.name, "giant.tar"), sizes)
        for point in ("", "sample"):
            with self.subTest(point=point), Daemon(pipeline(url, point, window=28, batch=2), memory="64MiB",
                                                   workers=WORKERS) as daemon:
                with memory_use.Highest(daemon.process.pid) as highest:
                    daemon.read("--epochs", 3)
                pixels = giant * giant * 3
                self.assertGreater(memory_use.total(highest.use), pixels, "the giant was seen")
                self.assertLess(memory_use.total(highest.use), allowed(64 * MIB, giant))
                # Other photos take its place on the workers' benches.
                after = self.lowest_while_reading(daemon)
                print(f"giant of {pixels / MIB:.0f} MiB, {point or 'no'} echo: {memory_use.in_mib(highest.use)}, then "
                      f"{memory_use.in_mib(after)}", flush=True)
                self.assertLess(memory_use.total(after), 64 * MIB + BASE)

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


class LargeRecords(unittest.TestCase):
    """Records of 20 MiB, and of anything up to it, from a store that brings many at once, with every kind of cache: as
    little memory as the daemon starts with is enough."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        draw = random.Random(11)
        cls.large = cls.shard("large", [20 * MIB] * 14)
        cls.mixed = cls.shard("mixed", [int(20_000 * 1000 ** draw.random() ** 1.5) for _ in range(120)])

    @classmethod
    def shard(cls, name, sizes):
        """Of ballast, which nobody decodes, beside a small array and a label."""
        ballast = random.Random(5).randbytes(max(sizes))
        files = []
        for place, size in enumerate(sizes):
            files += [(f"{place:04d}.u8", ballast[place:place + 64]), (f"{place:04d}.cls", str(place).encode()),
                      (f"{place:04d}.pad", ballast[:size])]
        path = pathlib.Path(cls.folder.name, f"{name}.tar")
        line_photos.write_tar(path, files)
        return path

    def stream(self, url, cache="", read_ahead=60 * MIB, batch=2, echo=""):
        steps = [f"read: {{url: '{url}', format: webdataset, read_ahead: {read_ahead}B, "
                 "throttle: {rate: 2GB/s, latency: 200ms}}", f"cache: {cache}" if cache else "", "shuffle: {window: 10}",
                 echo, "decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: int64}}",
                 f"batch: {{size: {batch}, last: partial}}", "publish: {slots: 4}"]
        return stream_yaml([step for step in steps if step])

    def check(self, what, stream, memory, epochs=2):
        with Daemon(stream, memory=f"{memory}B", workers=WORKERS) as daemon:
            with memory_use.Highest(daemon.process.pid) as highest:
                daemon.read("--epochs", epochs)
            print(f"{what}: {memory_use.in_mib(highest.use)}, allowed {(memory + BASE) / MIB:.0f} MiB", flush=True)
            self.assertLess(memory_use.total(highest.use), memory + BASE)

    def disk(self):
        return f"{{disk: {{path: '{tempfile.mkdtemp(dir=self.folder.name)}', size: 1GiB}}}}"

    def test_without_a_cache_also_where_a_batch_is_larger_than_what_may_be_ahead(self):
        self.check("large", self.stream(self.large), 62 * MIB)
        self.check("mixed, batches of 16", self.stream(self.mixed, read_ahead=24 * MIB, batch=16), 72 * MIB)

    def test_echoed_as_they_are(self):
        self.check("mixed, echoed", self.stream(self.mixed, echo="echo: {factor: 2, window: 24}"), 240 * MIB)

    def test_with_a_cache_in_memory(self):
        self.check("large, memory", self.stream(self.large, "{memory: 120MiB}"), 184 * MIB, epochs=3)

    def test_with_a_cache_on_disk(self):
        self.check("large, disk", self.stream(self.large, self.disk()), 94 * MIB, epochs=3)
        self.check("mixed, disk", self.stream(self.mixed, self.disk(), batch=8), 94 * MIB, epochs=3)

    def test_with_a_cache_in_the_fleet(self):
        with Memcached(megabytes=1024) as server:
            self.check("large, fleet", self.stream(self.large, f"{{fleet: ['{server.address}']}}"), 146 * MIB, epochs=3)


@unittest.skipUnless(os.environ.get("ECHOLINE_LIBRARY"), "ECHOLINE_LIBRARY names no client library")
class PythonTrainers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        url = write_shard(pathlib.Path(folder.name, "small.tar"), [(120, 100)] * 40)
        cls.daemon = Daemon(pipeline(url, "sample", window=36, slots=4))
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.start()

    def loader(self, job, **options):
        import echoline
        return echoline.Loader("train", job, runtime_dir=self.daemon.runtime_dir, **options)

    def test_a_list_of_all_batches_ends_in_lease_held_which_says_what_to_do(self):
        import echoline
        with self.loader("list") as loader:
            with self.assertRaises(echoline.LeaseHeld) as caught:
                list(loader)
        self.assertIn("copy", str(caught.exception))
        self.assertIn("slots", str(caught.exception))

    def test_copies_of_all_batches_may_be_kept(self):
        with self.loader("copies") as loader:
            kept = [batch.copy() for batch in loader]
            self.assertEqual(len(kept), len(loader))
        self.assertEqual([batch.step for batch in kept], list(range(10)))

    def test_a_state_taken_inside_the_loop_resumes_at_the_next_batch(self):
        with self.loader("states") as loader:
            seen = [(batch.step, batch.sample_ids.tolist(), batch["image"].copy(), loader.state_dict())
                    for batch in loader]
        for place in (0, 4, 8):
            with self.loader(f"resumed{place}", state=seen[place][3]) as loader:
                batch = next(iter(loader))
                step, ids, pixels, _ = seen[place + 1]
                self.assertEqual((batch.step, batch.sample_ids.tolist()), (step, ids))
                self.assertTrue(numpy.array_equal(batch["image"], pixels))
        with self.loader("next-epoch", state=seen[-1][3]) as loader:
            batch = next(iter(loader))
            self.assertEqual((batch.epoch, batch.step), (1, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
