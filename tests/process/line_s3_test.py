#!/usr/bin/env python3
"""From a real S3 server with signatures to what a trainer reads: each record exactly once an epoch, times the echo
factor, in an order that neither workers nor ranks nor a stop and a resume change.

Runs over the five ImageNet tars where ECHOLINE_TEST_DATA names them, else over 60 made photos. By default every echo
point is taken with one factor; ECHOLINE_ALL_CASES=1 takes every point with every factor and over more stops."""
import collections
import functools
import itertools
import json
import os
import pathlib
import random
import tempfile
import time
import unittest

import line_photos
from daemon_process import Daemon, Server, skip, stream_yaml, whole

POINTS = ("record", "sample", "augmented", "batch")
FACTORS = (2, 2.5)
EVERYTHING = os.environ.get("ECHOLINE_ALL_CASES") == "1"
CASES = (list(itertools.product(POINTS, FACTORS)) if EVERYTHING else
         [("record", 2), ("sample", 2.5), ("augmented", 2), ("batch", 2.5)])
EPOCHS = 2
BUCKET = "photos"


class Case:
    """One echo point and factor over the data set: its configuration, and what must come out of it."""

    def __init__(self, store, point, factor):
        self.point, self.factor = point, factor
        self.records = store.records
        self.batch = 16 if store.records >= 500 else 8
        self.url = store.url
        self.endpoint = store.endpoint

    def yaml(self):
        # Two uses of one record stay apart by this window: semantics.md, Echo, with K = 3.
        window = 6 if self.point == "batch" else 2 * 3 * self.batch + 4
        echo = f"echo: {{factor: {self.factor}, window: {window}}}"
        steps = [f"read: {{url: '{self.url}', format: webdataset, endpoint: '{self.endpoint}', region: us-east-1}}",
                 "shuffle: {window: 40}",
                 "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                 "random_resized_crop: {field: image, size: [64, 64]}",
                 "horizontal_flip: {field: image}",
                 f"batch: {{size: {self.batch}, last: partial}}",
                 "publish: {slots: 4}"]
        steps.insert({"record": 2, "sample": 3, "augmented": 5, "batch": 6}[self.point], echo)
        return stream_yaml(steps)

    def rows_per_epoch(self):
        """The sum of all uses by semantics.md, Echo; under batch echo every batch is used as a whole."""
        thousandths = round(self.factor * 1000)
        if self.point != "batch":
            return self.records * thousandths // 1000
        sizes = [min(self.batch, self.records - first) for first in range(0, self.records, self.batch)]
        uses = [(i + 1) * thousandths // 1000 - i * thousandths // 1000 for i in range(len(sizes))]
        # Which batch of the shuffled order is the short one is the plan's choice: it has 2 or 3 uses.
        return {sum(size * use for size, use in zip(sizes, uses)) + extra * sizes[-1] for extra in (-1, 0, 1)}


class Store:
    """The S3 server with the shards in it."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        paths = line_photos.shards(self.folder.name)
        self.records = len(line_photos.records(paths))
        puts = [f"--put={path}={BUCKET}/set/{path.name}" for path in paths]
        try:
            data = pathlib.Path(self.folder.name, "s3")
            self.server = Server("s3_server.py", "--dir", data, "--bucket", BUCKET, *puts)
        except unittest.SkipTest as why:
            skip(why)
        self.endpoint = self.server.facts["endpoint"]
        name = paths[0].name.rpartition("-")[0]
        self.url = f"s3://{BUCKET}/set/{name}-{{000000..{len(paths) - 1:06d}}}.tar"
        self.environment = {"AWS_ACCESS_KEY_ID": self.server.facts["access_key"],
                            "AWS_SECRET_ACCESS_KEY": self.server.facts["secret_key"]}

    def close(self):
        self.server.stop()
        self.folder.cleanup()


def for_each_case(test):
    """`test(self, case, batches)` as a subtest of every case; `batches` is what one worker gives one rank."""
    @functools.wraps(test)
    def run(self):
        for point, factor in CASES:
            with self.subTest(point=point, factor=factor):
                begin = time.monotonic()
                case = Case(self.store, point, factor)
                test(self, case, self.first_reading(case))
                if (seconds := time.monotonic() - begin) > 0.5:
                    print(f"{point} echo x {factor}, {case.records} records: {seconds:.1f} s", flush=True)
    return run


class WholeLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = Store()
        cls.addClassCleanup(cls.store.close)
        cls.expected = {}
        cls.random = random.Random(int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000)))

    def daemon(self, case, workers):
        return Daemon(case.yaml(), workers=workers, environment=self.store.environment)

    def first_reading(self, case):
        """What one worker and one rank give; read once a case."""
        key = (case.point, case.factor)
        if key not in self.expected:
            with self.daemon(case, workers=1) as daemon:
                self.expected[key] = whole(daemon.read("--epochs", EPOCHS, "--row-checksums"))
        return self.expected[key]

    @for_each_case
    def test_each_record_comes_once_an_epoch_times_the_factor(self, case, batches):
        for epoch in range(EPOCHS):
            rows = [row for batch in batches if batch["epoch"] == epoch for row in batch["rows"]]
            self.check_uses(case, rows)
        self.assertEqual({batch["epoch"] for batch in batches}, set(range(EPOCHS)))

    def check_uses(self, case, rows):
        uses = collections.defaultdict(list)
        for sample, use, *_ in rows:
            uses[sample].append(use)
        self.assertEqual(set(uses), set(range(case.records)), "every record, and no other")
        allowed = {int(case.factor), -int(-case.factor // 1)}
        for sample, seen in uses.items():
            self.assertIn(len(seen), allowed, f"uses of sample {sample}")
            self.assertEqual(sorted(seen), list(range(len(seen))), f"uses of sample {sample} count from 0")
        total = case.rows_per_epoch()
        self.assertIn(len(rows), total if isinstance(total, set) else {total})

    @for_each_case
    def test_steps_count_up_and_batches_are_full_but_the_last(self, case, batches):
        for epoch in range(EPOCHS):
            steps = [batch for batch in batches if batch["epoch"] == epoch]
            self.assertEqual([batch["step"] for batch in steps], list(range(len(steps))))
            short = [batch["step"] for batch in steps if len(batch["rows"]) < case.batch]
            if case.point != "batch":
                self.assertIn(short, ([], [len(steps) - 1]))
            fresh = sum(batch["fresh"] for batch in steps)
            self.assertEqual(fresh, case.records)

    @for_each_case
    def test_the_second_epoch_is_another_order(self, _, batches):
        orders = [[row[0] for batch in batches if batch["epoch"] == epoch for row in batch["rows"]]
                  for epoch in range(EPOCHS)]
        self.assertNotEqual(*orders)

    @for_each_case
    def test_no_batch_holds_two_uses_of_a_record(self, _, batches):
        for batch in batches:
            samples = [row[0] for row in batch["rows"]]
            self.assertEqual(len(samples), len(set(samples)), f"epoch {batch['epoch']} step {batch['step']}")

    @for_each_case
    def test_pixels_differ_between_uses_only_before_the_augmentation(self, case, batches):
        pixels = collections.defaultdict(list)
        labels = collections.defaultdict(set)
        for batch in batches:
            for sample, _, image, label in batch["rows"]:
                pixels[batch["epoch"], sample].append(image)
                labels[sample].add(label)
        for place, seen in pixels.items():
            distinct = len(seen) if case.point in ("record", "sample") else 1
            self.assertEqual(len(set(seen)), distinct, f"epoch and sample {place}")
        for sample in labels:
            self.assertEqual(len(labels[sample]), 1)
            self.assertNotEqual(pixels[0, sample][0], pixels[1, sample][0], "another epoch is another crop")

    @for_each_case
    def test_four_workers_give_what_one_gives_and_so_do_four_ranks(self, case, batches):
        with self.daemon(case, workers=4) as daemon:
            ranks = daemon.read_as_ranks(4, "--epochs", EPOCHS, "--row-checksums", "--job", "four")
            self.compare(ranks, batches)
            self.compare(whole(daemon.read("--epochs", EPOCHS, "--row-checksums", "--job", "one")), batches)

    @for_each_case
    def test_a_stop_anywhere_and_a_resume_change_nothing(self, case, batches):
        with self.daemon(case, workers=2) as daemon:
            for turn in range(3 if EVERYTHING else 1):
                self.stop_and_resume(daemon, batches, f"turn{turn}")

    def stop_and_resume(self, daemon, batches, job):
        """Stopped as one rank and gone on with as one and as four; stopped as four and gone on with as one."""
        stop = self.random.randint(1, len(batches) - 1)
        state, states = daemon.folder / f"{job}.json", [daemon.folder / f"{job}-{rank}.json" for rank in range(4)]
        common = ("--row-checksums", "--job", job)
        with self.subTest(stop=stop):
            first = whole(daemon.read(*common, "--batches", stop, "--save-state", state))
            self.assertLess(state.stat().st_size, 4096, "a state is small")
            rest = ("--epochs", EPOCHS - json.loads(state.read_text())["epoch"], "--state", state)
            self.compare(first + whole(daemon.read(*common, *rest)), batches)
            self.compare(first + daemon.read_as_ranks(4, *common, *rest), batches)
            save = ("--batches", stop, "--save-state", daemon.folder / f"{job}-{{rank}}.json")
            first = daemon.read_as_ranks(4, *common, *save)
            self.assertEqual({each.read_text() for each in states}, {state.read_text()}, "same place, same state")
            self.compare(first + whole(daemon.read(*common, *rest)), batches)

    def compare(self, found, expected):
        """Equal, or the first difference."""
        for one, other in zip(found, expected):
            self.assertEqual(one, other)
        self.assertEqual(len(found), len(expected))


if __name__ == "__main__":
    unittest.main(verbosity=2)
