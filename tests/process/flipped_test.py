#!/usr/bin/env python3
"""Bytes that change between the store and the daemon, within the ranges that records are read by: with checksums of
records the trainer gets exactly the planned pixels, or the error that is documented; without them, wrong ones."""
import contextlib
import pathlib
import random
import struct
import sys
import tempfile
import unittest

import line_photos
from cache_run import CachedDaemon, rows_of
from daemon_process import TESTS, Server, free_port, run_index, skip, stream_yaml

sys.path.insert(0, str(TESTS / "record"))
import shard_writers

COUNT, SHARDS = 1200, 3
SHARE = 0.05  # of the answers; so that no record meets four of them in a row


def write_shards(folder):
    """The same records as tars, TFRecord files and an MDS folder: {format: what finds them below `folder`}."""
    draw = random.Random(1)
    records = [(draw.randbytes(32 * 32 * 3), number, draw.randbytes(draw.randrange(9_000))) for number in range(COUNT)]
    for shard in range(SHARDS):
        part = records[shard * COUNT // SHARDS:(shard + 1) * COUNT // SHARDS]
        line_photos.write_tar(folder / f"{shard}.tar", [
            (f"{number:06d}.{name}", content) for pixels, number, ballast in part
            for name, content in (("u8", pixels), ("cls", str(number).encode()), ("pad", ballast))])
        shard_writers.write_tfrecord(folder / f"{shard}.tfrecord", [
            {"u8": pixels, "cls": number, "pad": ballast} for pixels, number, ballast in part])
    shard_writers.write_mds(folder / "mds", {"u8": "bytes", "cls": "int", "pad": "bytes"}, [
        {"u8": pixels, "cls": struct.pack("<q", number), "pad": ballast} for pixels, number, ballast in records],
        COUNT // SHARDS)
    return {"webdataset": "*.tar", "tfrecord": "*.tfrecord", "mds": "mds/"}


class Flipped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.patterns = write_shards(cls.folder)
        paths = [path for path in cls.folder.rglob("*") if path.is_file()]
        try:
            cls.store = Server("s3_server.py", "--bucket", "photos",
                               *(f"--put={path}=photos/{path.relative_to(cls.folder)}" for path in paths))
        except unittest.SkipTest as why:
            skip(why)
        cls.addClassCleanup(cls.store.stop)
        cls.environment = {"AWS_ACCESS_KEY_ID": cls.store.facts["access_key"],
                           "AWS_SECRET_ACCESS_KEY": cls.store.facts["secret_key"]}
        for form in cls.patterns:
            done = run_index(cls.address(form), "--format", form, "--endpoint", cls.store.facts["endpoint"],
                             "--checksums", "--publish", environment=cls.environment)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)

    @classmethod
    def address(cls, form):
        return f"s3://photos/{cls.patterns[form]}"

    @classmethod
    def daemon(cls, endpoint, form="webdataset", more=""):
        steps = [f"read: {{url: '{cls.address(form)}', format: {form}, endpoint: '{endpoint}', region: us-east-1, "
                 f"read_ahead: 1MiB{more}}}", "shuffle: {window: 200}",
                 "decode: {image: {key: u8, as: uint8, shape: [32, 32, 3]}, label: {key: cls, as: int64}}",
                 "batch: {size: 16, last: partial}", "publish: {slots: 4}"]
        return CachedDaemon(stream_yaml(steps, more="    bad_records: {limit: 100%}\n"), environment=cls.environment)

    @contextlib.contextmanager
    def proxy(self, share, port=0):
        server = Server("fault_proxy.py", "--server", self.store.facts["endpoint"].removeprefix("http://"),
                        "--fault", f"flip={share}", "--port", port)
        try:
            yield server.facts["endpoint"]
        finally:
            server.stop()

    @contextlib.contextmanager
    def daemon_behind_a_proxy_that_begins_to_flip_every_answer(self, **how):
        port = free_port()
        with contextlib.ExitStack() as before:
            endpoint = before.enter_context(self.proxy(0, port))
            daemon = self.daemon(endpoint, **how)
            daemon.__enter__()
        with contextlib.closing(contextlib.ExitStack()) as after:
            after.push(daemon)
            after.enter_context(self.proxy(1, port))
            yield daemon

    def test_a_share_of_the_answers_flipped_changes_no_pixel(self):
        for form in self.patterns:
            with self.subTest(form):
                with self.daemon(self.store.facts["endpoint"], form) as daemon:
                    expected = rows_of(daemon.read("--epochs", 2, "--row-checksums"))
                    self.assertEqual(daemon.total("echoline_records_checked_total", outcome="disagreed"), 0)
                with self.proxy(SHARE) as endpoint, self.daemon(endpoint, form) as daemon:
                    self.assertEqual(rows_of(daemon.read("--epochs", 2, "--row-checksums")), expected)
                    self.assertGreater(daemon.total("echoline_records_checked_total", outcome="disagreed"), 2)
                    self.assertGreaterEqual(daemon.total("echoline_records_checked_total", outcome="agreed"), 2 * COUNT)
                    self.assertEqual(daemon.total("echoline_records_bad_total"), 0)

    def test_every_answer_flipped_is_an_error_that_names_place_and_checksums(self):
        with self.daemon_behind_a_proxy_that_begins_to_flip_every_answer() as daemon:
            with self.assertRaisesRegex(RuntimeError, r"s3://photos/\d.tar: the \d+ bytes from \d+ on \(record \d+\) "
                                        r"have the CRC-32C [0-9a-f]{8} where the index has [0-9a-f]{8}, in 4 answers"):
                daemon.read("--epochs", 2)
            # At the start of a stream it is the same.
            daemon.stop()
            status, log = daemon.run_to_its_end()
            self.assertNotEqual(status, 0)
            self.assertIn("CRC-32C", log)

    def test_without_checksums_wrong_pixels_would_have_come(self):
        with self.daemon(self.store.facts["endpoint"]) as daemon:
            expected = rows_of(daemon.read("--epochs", 1, "--row-checksums"))
        with self.daemon_behind_a_proxy_that_begins_to_flip_every_answer(more=", checksums: none") as daemon:
            self.assertEqual(daemon.total("echoline_records_checked_total"), 0)
            self.assertNotEqual(rows_of(daemon.read("--epochs", 1, "--row-checksums")), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
