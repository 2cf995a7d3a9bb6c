#!/usr/bin/env python3
"""From a real S3 server with signatures to the trainer: each record exactly once an epoch, times the echo factor, in an
order that does not depend on workers, ranks, or a stop and a resume.

Uses the five ImageNet tars where ECHOLINE_TEST_DATA names them, else 60 generated photos, one echo point with the same
photos in Parquet files. By default each echo point is tested with one factor; ECHOLINE_ALL_CASES=1 tests every point with
every factor and format, and with more stops."""
import collections
import functools
import itertools
import json
import os
import random
import time

from support import parquet_files, photos
from support.batches import whole
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.store_process import S3Store

POINTS = ("record", "sample", "augmented", "batch")
FACTORS = (2, 2.5)
EVERYTHING = os.environ.get("ECHOLINE_ALL_CASES") == "1"
FORMATS = ("webdataset", "parquet" if parquet_files.python() else "webdataset")
CASES = (list(itertools.product(sorted(set(FORMATS)), POINTS, FACTORS)) if EVERYTHING else
         [(FORMATS[0], "record", 2), (FORMATS[1], "sample", 2.5), (FORMATS[0], "augmented", 2),
          (FORMATS[0], "batch", 2.5)])
EPOCHS = 2


class Case:
    """One format, echo point and factor: its configuration, and the expected result."""

    def __init__(self, store, records, form, point, factor):
        self.store, self.records, self.form = store, records, form
        self.point, self.factor = point, factor
        self.batch = 16 if records >= 500 else 8

    def yaml(self):
        # This window keeps two uses of a record out of one batch: semantics.md, Echo, with K = 3.
        window = 6 if self.point == "batch" else 2 * 3 * self.batch + 4
        echo = f"echo: {{factor: {self.factor}, window: {window}}}"
        url, image, label = self.store.url, "jpg", "cls"
        if self.form == "parquet":
            url, image, label = url.replace(".tar", ".parquet"), "image", "label"
        steps = [f"read: {{{self.store.read_keys(url)}, format: {self.form}}}",
                 "shuffle: {window: 40}",
                 f"decode: {{image: {{key: {image}, as: rgb}}, label: {{key: {label}, as: int64}}}}",
                 "random_resized_crop: {field: image, size: [64, 64]}",
                 "horizontal_flip: {field: image}",
                 f"batch: {{size: {self.batch}, last: partial}}",
                 "publish: {slots: 4}"]
        steps.insert({"record": 2, "sample": 3, "augmented": 5, "batch": 6}[self.point], echo)
        return stream_yaml(steps)

    def rows_per_epoch(self):
        """The sums of all uses that semantics.md, Echo, allows; batch echo uses every batch as a whole."""
        thousandths = round(self.factor * 1000)
        if self.point != "batch":
            return {self.records * thousandths // 1000}
        sizes = [min(self.batch, self.records - first) for first in range(0, self.records, self.batch)]
        uses = [(i + 1) * thousandths // 1000 - i * thousandths // 1000 for i in range(len(sizes))]
        # The plan decides where the short batch is in the shuffled order: it has 2 or 3 uses.
        return {sum(size * use for size, use in zip(sizes, uses)) + extra * sizes[-1] for extra in (-1, 0, 1)}


def for_each_case(test):
    """Runs `test(self, case, batches)` as a subtest for every case; `batches` are those of one worker and one rank."""
    @functools.wraps(test)
    def run(self):
        for form, point, factor in CASES:
            with self.subTest(form=form, point=point, factor=factor):
                begin = time.monotonic()
                case = Case(self.store, self.records, form, point, factor)
                test(self, case, self.first_reading(case))
                if (seconds := time.monotonic() - begin) > 0.5:
                    print(f"{form}, {point} echo x {factor}, {case.records} records: {seconds:.1f} s", flush=True)
    return run


class WholeLine(ProcessCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.class_folder()
        paths = photos.shards(folder)
        cls.records = len(photos.records(paths))
        if "parquet" in FORMATS:
            for path in list(paths):
                paths.append(folder / f"{path.stem}.parquet")
                parquet_files.write(paths[-1], photos.records([path]))
        cls.store = cls.class_resource(S3Store(folder, paths))
        cls.expected = {}
        cls.random = random.Random(int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000)))

    def daemon(self, case, workers):
        return Daemon(case.yaml(), workers=workers, environment=self.store.environment)

    def first_reading(self, case):
        """The batches of one worker and one rank; read once for each case."""
        key = (case.form, case.point, case.factor)
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
        self.assertEqual(set(uses), set(range(case.records)), "every record must come, and no other")
        allowed = {int(case.factor), -int(-case.factor // 1)}
        for sample, seen in uses.items():
            self.assertIn(len(seen), allowed, f"uses of sample {sample}")
            self.assertEqual(sorted(seen), list(range(len(seen))), f"uses of sample {sample} count from 0")
        self.assertIn(len(rows), case.rows_per_epoch())

    @for_each_case
    def test_steps_count_up_and_all_batches_except_the_last_are_full(self, case, batches):
        for epoch in range(EPOCHS):
            steps = [batch for batch in batches if batch["epoch"] == epoch]
            self.assertEqual([batch["step"] for batch in steps], list(range(len(steps))))
            short = [batch["step"] for batch in steps if len(batch["rows"]) < case.batch]
            if case.point != "batch":
                self.assertIn(short, ([], [len(steps) - 1]))
            fresh = sum(batch["fresh"] for batch in steps)
            self.assertEqual(fresh, case.records)

    @for_each_case
    def test_the_second_epoch_has_another_order(self, _, batches):
        orders = [[row[0] for batch in batches if batch["epoch"] == epoch for row in batch["rows"]]
                  for epoch in range(EPOCHS)]
        self.assertNotEqual(*orders)

    @for_each_case
    def test_no_batch_contains_two_uses_of_a_record(self, _, batches):
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
        for epoch_and_sample, seen in pixels.items():
            distinct = len(seen) if case.point in ("record", "sample") else 1
            self.assertEqual(len(set(seen)), distinct, f"(epoch, sample) {epoch_and_sample}")
        for sample in labels:
            self.assertEqual(len(labels[sample]), 1)
            self.assertNotEqual(pixels[0, sample][0], pixels[1, sample][0], "another epoch is another crop")

    @for_each_case
    def test_four_workers_and_four_ranks_give_the_batches_of_one(self, case, batches):
        with self.daemon(case, workers=4) as daemon:
            ranks = daemon.read_as_ranks(4, "--epochs", EPOCHS, "--row-checksums", "--job", "four")
            self.check_equal_batches(ranks, batches)
            self.check_equal_batches(whole(daemon.read("--epochs", EPOCHS, "--row-checksums", "--job", "one")), batches)

    @for_each_case
    def test_a_stop_anywhere_and_a_resume_change_no_batch(self, case, batches):
        with self.daemon(case, workers=2) as daemon:
            for turn in range(3 if EVERYTHING else 1):
                self.stop_and_resume(daemon, batches, f"turn{turn}")

    def stop_and_resume(self, daemon, batches, job):
        """Stops as one rank and resumes as one and as four; stops as four ranks and resumes as one."""
        stop = self.random.randint(1, len(batches) - 1)
        state, states = daemon.folder / f"{job}.json", [daemon.folder / f"{job}-{rank}.json" for rank in range(4)]
        common = ("--row-checksums", "--job", job)
        with self.subTest(stop=stop):
            first = whole(daemon.read(*common, "--batches", stop, "--save-state", state))
            self.assertLess(state.stat().st_size, 4096, "a state must be small")
            rest = ("--epochs", EPOCHS - json.loads(state.read_text())["epoch"], "--state", state)
            self.check_equal_batches(first + whole(daemon.read(*common, *rest)), batches)
            self.check_equal_batches(first + daemon.read_as_ranks(4, *common, *rest), batches)
            save = ("--batches", stop, "--save-state", daemon.folder / f"{job}-{{rank}}.json")
            first = daemon.read_as_ranks(4, *common, *save)
            self.assertEqual({each.read_text() for each in states}, {state.read_text()}, "the states of one position differ")
            self.check_equal_batches(first + whole(daemon.read(*common, *rest)), batches)


if __name__ == "__main__":
    main()
