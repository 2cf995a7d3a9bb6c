#!/usr/bin/env python3
"""Records that cannot be decoded are counted, named once and replaced in the same way on every run; shards that change
after the daemon indexed them are an error that names them."""
import collections
import functools
import os
import re
import unittest

from support import bad_shards as shards
from support.batches import whole
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.store_process import S3Store

try:
    import echoline
except (ImportError, OSError, AttributeError):
    echoline = None  # this Python cannot load a sanitized library; the command line still shows most

EPOCHS = 2
FACTOR = 2
BAD_IDS = {*shards.BAD, shards.CUT}


def steps(read, echo=f"echo: {{factor: {FACTOR}, window: 40}}", batch=8):
    return [f"read: {{{read}}}", "shuffle: {window: 30}",
            "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}", echo,
            "resize: {field: image, size: [32, 32]}", f"batch: {{size: {batch}, last: partial}}", "publish: {slots: 2}"]


def policy(text):
    return f"    bad_records: {{{text}}}\n"


class BadRecords(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.good, cls.bad = cls.class_folder(), cls.class_folder()
        shards.write_good(cls.good)
        shards.write_bad(cls.bad)

    def daemon(self, folder, bad_records="limit: 50%", **options):
        yaml = stream_yaml(steps(f"url: '{shards.url(folder)}'"), more=policy(bad_records))
        return Daemon(yaml, **options)

    @classmethod
    @functools.cache
    def readings(cls):
        """(batches of the good shards, batches of the bad ones). The plan is the same for both."""
        found = []
        for folder in (cls.good, cls.bad):
            with cls.daemon(cls, folder) as daemon:
                found.append(whole(daemon.read("--epochs", EPOCHS, "--row-checksums")))
        return found

    def test_batches_keep_their_size_and_contain_no_bad_record(self):
        good, bad = self.readings()
        self.assertEqual([len(batch["rows"]) for batch in bad], [len(batch["rows"]) for batch in good])
        self.assertEqual(sum(len(batch["rows"]) for batch in bad), EPOCHS * FACTOR * shards.COUNT)
        samples = {row[0] for batch in bad for row in batch["rows"]}
        self.assertEqual(samples, set(range(shards.COUNT)) - BAD_IDS)

    def test_only_rows_of_bad_records_are_replaced_and_all_uses_by_the_same_record(self):
        good, bad = self.readings()
        substitutes = collections.defaultdict(set)
        for planned, delivered in zip(good, bad, strict=True):
            for one, other in zip(planned["rows"], delivered["rows"], strict=True):
                if one[0] in BAD_IDS:
                    substitutes[planned["epoch"], one[0]].add(other[0])
                else:
                    self.assertEqual(one, other, "the row of a good record")
        self.assertEqual(len(substitutes), EPOCHS * len(BAD_IDS))
        for epoch_and_sample, found in substitutes.items():
            self.assertEqual(len(found), 1, f"substitutes for (epoch, sample) {epoch_and_sample}")

    def test_a_substitute_has_its_own_pixels_and_label(self):
        good, bad = self.readings()
        content = {row[0]: row[2:] for batch in good for row in batch["rows"]}
        for batch in bad:
            for sample, _, image, label in batch["rows"]:
                self.assertEqual((image, label), content[sample], f"sample {sample}")

    def test_other_runs_workers_ranks_and_a_resume_replace_the_same(self):
        _, expected = self.readings()
        for workers in (1, 4):
            with self.subTest(workers=workers), self.daemon(self.bad, workers=workers) as daemon:
                read = ("--epochs", EPOCHS, "--row-checksums")
                self.assertEqual(whole(daemon.read(*read, "--job", "one")), expected)
                self.assertEqual(daemon.read_as_ranks(4, *read, "--job", "four"), expected)
                state = daemon.folder / "state.json"
                part = ("--row-checksums", "--job", "part")
                first = whole(daemon.read(*part, "--batches", 7, "--save-state", state))
                rest = whole(daemon.read(*part, "--epochs", EPOCHS, "--state", state))
                self.assertEqual(first + rest, expected)

    def test_each_bad_record_is_counted_with_its_reason(self):
        with self.daemon(self.bad, metrics=True) as daemon:
            daemon.read("--epochs", EPOCHS)
            counts = {re.search(r'reason="(\w+)"', labels)[1]: count
                      for labels, count in daemon.metric_lines("echoline_records_bad_total").items()}
        expected = collections.Counter(reason for reason, _, _ in shards.BAD.values())
        expected["corrupt"] += 1  # the truncated one
        self.assertEqual(set(counts), set(expected))
        for reason, count in expected.items():  # at least once an epoch; bad substitutes count as well
            self.assertGreaterEqual(counts[reason], EPOCHS * count, reason)

    def test_each_bad_record_is_logged_once_with_key_address_and_offset(self):
        with self.daemon(self.bad) as daemon:
            daemon.read("--epochs", EPOCHS)
            daemon.read("--epochs", EPOCHS, "--job", "another")
            log = daemon.log().splitlines()
        for sample in sorted(BAD_IDS):
            word = shards.BAD[sample][1] if sample in shards.BAD else "truncated"
            lines = [line for line in log if f"key {shards.key(sample)})" in line]
            with self.subTest(sample=sample, lines=lines):
                self.assertEqual(len(lines), 1)
                path = shards.shard_path(self.bad, sample // shards.RECORDS)
                self.assertIn(f"{path} at byte {shards.offset(self.bad, sample)}:", lines[0])
                self.assertIn(word, lines[0])
        self.assertEqual(len([line for line in log if "bad record" in line]), len(BAD_IDS))

    def test_good_data_causes_no_warning(self):
        with self.daemon(self.good, metrics=True) as daemon:
            daemon.read()
            self.assertEqual(daemon.total("echoline_records_bad_total"), 0)
            self.assertNotRegex(daemon.log(), "warning|error")

    @unittest.skipUnless(echoline, "the Python package can't be loaded")
    def test_replaced_rows_are_flagged(self):
        planned = [row for batch in self.readings()[0] for row in batch["rows"]]
        with self.daemon(self.bad) as daemon, echoline.Loader("train", runtime_dir=daemon.runtime_dir) as loader:
            flags = []
            for _ in range(EPOCHS):
                for batch in loader:
                    flags += batch.flags.tolist()
        self.assertEqual(flags, [2 if row[0] in BAD_IDS else 0 for row in planned])

    def test_the_policy_fail_ends_the_stream_with_the_record_named(self):
        with self.daemon(self.bad, "policy: fail") as daemon:
            with self.assertRaises(RuntimeError) as caught:
                daemon.read()
            self.assertRegex(str(caught.exception), r"key r\d{4}\) in .*photos-00000[12]\.tar at byte \d+")
            self.assertIn("policy: fail", str(caught.exception))
            self.assertNotIn("replaced", daemon.log())
            self.assertIsNone(daemon.process.poll(), "the daemon ended; other streams must continue")

    def test_more_bad_records_than_the_limit_end_the_stream_with_the_last_one_named(self):
        with self.daemon(self.bad, "limit: 5%") as daemon:
            with self.assertRaises(RuntimeError) as caught:
                daemon.read()
            self.assertRegex(str(caught.exception), r"bad_records\.limit .*\(3 of 60\).*key r\d{4}\) in .*at byte \d+")
            self.assertIsNone(daemon.process.poll())


class ChangedShards(ProcessCase):
    """Shards of about 200 KB with a read-ahead of 64 KiB: most of what changes was not read before."""

    def setUp(self):
        super().setUp()
        self.data = self.folder()
        shards.write_good(self.data)
        self.shard = shards.shard_path(self.data, 1)

    def yaml(self, read):
        return stream_yaml(steps(read + ", read_ahead: 64KiB", echo=None))

    def check(self, daemon, change, name):
        daemon.read("--batches", 1)
        change()
        with self.assertRaises(RuntimeError) as caught:
            daemon.read("--epochs", 4, "--job", "later")
        self.assertIn(name, str(caught.exception))
        self.assertIn("changed since it was indexed", str(caught.exception))
        self.assertIn(name, daemon.log())

    def file_daemon(self):
        return Daemon(self.yaml(f"url: '{shards.url(self.data)}'"))

    def grow(self):
        with open(self.shard, "ab") as file:
            file.write(bytes(10240))

    def touch(self):
        os.utime(self.shard)

    def test_another_size_or_time_is_an_error_that_names_the_shard(self):
        for change in (self.grow, self.touch):
            with self.subTest(change.__name__), self.file_daemon() as daemon:
                self.check(daemon, change, self.shard.name)

    def check_indexed_or_named(self, daemon, change):
        """An open file keeps its indexed bytes. If the daemon has to open it again, it must not accept another file."""
        expected = whole(daemon.read("--epochs", 4, "--row-checksums"))
        change()
        try:
            found = whole(daemon.read("--epochs", 4, "--row-checksums", "--job", "later"))
        except RuntimeError as error:
            self.assertIn(self.shard.name, str(error))
        else:
            self.assertEqual(found, expected)

    def test_no_byte_of_another_file_with_the_same_name_is_used(self):
        def swap():
            other = shards.shard_path(self.data, 9)
            files = [file for sample in range(100, 120) for file in shards.files_of(sample)]
            shards.write_tar(other, files)
            other.rename(self.shard)
        with self.file_daemon() as daemon:
            self.check_indexed_or_named(daemon, swap)

    def test_a_deleted_shard_is_still_read_or_named(self):
        with self.file_daemon() as daemon:
            self.check_indexed_or_named(daemon, self.shard.unlink)

    def test_another_object_in_s3_is_an_error_that_names_it(self):
        keys = {shards.shard_path(self.data, shard): f"{shard}.tar" for shard in range(shards.SHARDS)}
        store = self.resource(S3Store(self.folder(), keys, keys))
        read = store.read_keys("s3://photos/{0..2}.tar")
        with Daemon(self.yaml(read), environment=store.environment) as daemon:
            changed = bytearray(self.shard.read_bytes())
            changed[-1] = 1
            self.check(daemon, lambda: store.put("1.tar", bytes(changed)), "1.tar")

    def test_the_next_start_indexes_what_changed(self):
        with self.file_daemon() as daemon:
            daemon.stop()
            shards.write_tar(self.shard, [file for sample in range(100, 110) for file in shards.files_of(sample)])
            daemon.start()
            self.assertIn("stale: 1 of 3 shards", daemon.log())
            samples = [row[0] for batch in whole(daemon.read()) for row in batch["rows"]]
            self.assertEqual(sorted(samples), list(range(2 * shards.RECORDS + 10)))


if __name__ == "__main__":
    main()
