#!/usr/bin/env python3
"""Bytes that change between the store and the daemon, inside the ranges that the daemon requests. With checksums of
records the trainer gets exactly the planned pixels or the documented error; without checksums it gets wrong pixels."""
import contextlib
import random
import struct

from support.batches import rows_of
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import free_port, run_index
from support.server_process import Server
from support.store_process import S3Store
from support.tars import write_tar

import shard_writers  # of tests/record

COUNT, SHARDS = 1200, 3
SHARE = 0.05  # of the answers; small enough that no record gets four of them in a row


def write_shards(folder):
    """The same records as tars, TFRecord files and an MDS folder: {format: pattern below `folder`}."""
    draw = random.Random(1)
    records = [(draw.randbytes(32 * 32 * 3), number, draw.randbytes(draw.randrange(9_000))) for number in range(COUNT)]
    for shard in range(SHARDS):
        part = records[shard * COUNT // SHARDS:(shard + 1) * COUNT // SHARDS]
        write_tar(folder / f"{shard}.tar", [
            (f"{number:06d}.{name}", content) for pixels, number, ballast in part
            for name, content in (("u8", pixels), ("cls", str(number).encode()), ("pad", ballast))])
        shard_writers.write_tfrecord(folder / f"{shard}.tfrecord", [
            {"u8": pixels, "cls": number, "pad": ballast} for pixels, number, ballast in part])
    shard_writers.write_mds(folder / "mds", {"u8": "bytes", "cls": "int", "pad": "bytes"}, [
        {"u8": pixels, "cls": struct.pack("<q", number), "pad": ballast} for pixels, number, ballast in records],
        COUNT // SHARDS)
    return {"webdataset": "*.tar", "tfrecord": "*.tfrecord", "mds": "mds/"}


class FlippedBytes(ProcessCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.class_folder()
        cls.patterns = write_shards(folder)
        keys = {path: path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
        cls.store = cls.class_resource(S3Store(cls.class_folder(), keys, keys))
        for form in cls.patterns:
            done = run_index(cls.address(form), "--format", form, "--endpoint", cls.store.endpoint,
                             "--checksums", "--publish", environment=cls.store.environment)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)

    @classmethod
    def address(cls, form):
        return f"s3://photos/{cls.patterns[form]}"

    @classmethod
    def daemon(cls, endpoint, form="webdataset", more=""):
        steps = [f"read: {{{cls.store.read_keys(cls.address(form), endpoint)}, format: {form}, "
                 f"read_ahead: 1MiB{more}}}", "shuffle: {window: 200}",
                 "decode: {image: {key: u8, as: uint8, shape: [32, 32, 3]}, label: {key: cls, as: int64}}",
                 "batch: {size: 16, last: partial}", "publish: {slots: 4}"]
        return Daemon(stream_yaml(steps, more="    bad_records: {limit: 100%}\n"), metrics=True,
                      environment=cls.store.environment)

    @contextlib.contextmanager
    def proxy(self, share, port=0):
        server = Server("fault_proxy.py", "--server", self.store.endpoint.removeprefix("http://"),
                        "--fault", f"flip={share}", "--port", port)
        try:
            yield server.facts["endpoint"]
        finally:
            server.stop()

    @contextlib.contextmanager
    def daemon_whose_answers_are_all_flipped_after_its_start(self, **how):
        port = free_port()
        with self.proxy(0, port) as endpoint:
            daemon = self.started(self.daemon(endpoint, **how))
        with self.proxy(1, port):
            yield daemon

    def test_some_flipped_answers_change_no_pixel(self):
        for form in self.patterns:
            with self.subTest(form):
                with self.daemon(self.store.endpoint, form) as daemon:
                    expected = rows_of(daemon.read("--epochs", 2, "--row-checksums"))
                    self.assertEqual(daemon.total("echoline_records_checked_total", outcome="disagreed"), 0)
                with self.proxy(SHARE) as endpoint, self.daemon(endpoint, form) as daemon:
                    self.assertEqual(rows_of(daemon.read("--epochs", 2, "--row-checksums")), expected)
                    self.assertGreater(daemon.total("echoline_records_checked_total", outcome="disagreed"), 2)
                    self.assertGreaterEqual(daemon.total("echoline_records_checked_total", outcome="agreed"), 2 * COUNT)
                    self.assertEqual(daemon.total("echoline_records_bad_total"), 0)

    def test_if_every_answer_is_flipped_the_error_names_range_and_checksums(self):
        with self.daemon_whose_answers_are_all_flipped_after_its_start() as daemon:
            with self.assertRaisesRegex(RuntimeError, r"s3://photos/\d.tar: the \d+ bytes from \d+ on \(record \d+\) "
                                        r"have the CRC-32C [0-9a-f]{8} where the index has [0-9a-f]{8}, in 4 answers"):
                daemon.read("--epochs", 2)
            # The start of a stream fails in the same way.
            daemon.stop()
            status, log = daemon.run_to_its_end()
            self.assertNotEqual(status, 0)
            self.assertIn("CRC-32C", log)

    def test_without_checksums_the_trainer_gets_wrong_pixels(self):
        with self.daemon(self.store.endpoint) as daemon:
            expected = rows_of(daemon.read("--epochs", 1, "--row-checksums"))
        with self.daemon_whose_answers_are_all_flipped_after_its_start(more=", checksums: none") as daemon:
            self.assertEqual(daemon.total("echoline_records_checked_total"), 0)
            self.assertNotEqual(rows_of(daemon.read("--epochs", 1, "--row-checksums")), expected)


if __name__ == "__main__":
    main()
