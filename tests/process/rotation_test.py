#!/usr/bin/env python3
"""The key of a running stream is replaced: the S3 server, which checks signatures, refuses the old one some seconds before
the credentials file has the new one. The trainer gets exactly the batches that it would have got. A key that stays wrong
is an error within `read.timeout` where `on_error: fail` is set, and keeps trainers waiting where it is not."""
import json
import time

from support import photos
from support.batches import whole
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, wait_until
from support.store_process import S3Store

EPOCHS = 3
GAP = 2.5  # seconds in which no key works


class Rotation(ProcessCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.class_folder()
        cls.store = cls.class_resource(S3Store(folder, photos.shards(folder)))
        cls.file = folder / "credentials"
        cls.put_key(cls.store.environment)
        with cls.daemon(rate=0) as daemon:
            cls.expected = whole(daemon.read("--epochs", EPOCHS, "--row-checksums"))

    def setUp(self):
        super().setUp()
        self.store.replace_keys(self.store.environment)
        self.put_key(self.store.environment)

    def class_processes(self):
        return {self.store.server.process.pid}

    @classmethod
    def put_key(cls, key):
        cls.file.write_text(f"[default]\naws_access_key_id = {key['AWS_ACCESS_KEY_ID']}\n"
                            f"aws_secret_access_key = {key['AWS_SECRET_ACCESS_KEY']}\n")

    @classmethod
    def daemon(cls, rate, more=""):
        """`rate` in bytes/s limits the source (0: no limit)."""
        steps = [f"read: {{{cls.store.read_keys()}, credentials_file: {cls.file}, format: webdataset, "
                 f"read_ahead: 256KiB, throttle: {{rate: {rate}B/s}}{more}}}",
                 "shuffle: {window: 16}", "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                 "random_resized_crop: {field: image, size: [64, 64]}", "batch: {size: 8, last: partial}",
                 "publish: {slots: 2}"]
        return Daemon(stream_yaml(steps), metrics=True)

    def rate(self):
        """Bytes/s at which all epochs take about five seconds."""
        return EPOCHS * sum(path.stat().st_size for path in self.store.paths) // 5

    def begin(self, daemon):
        """A trainer that has read a third of the batches, and these."""
        reader = daemon.reader("--epochs", EPOCHS, "--row-checksums")
        return reader, [json.loads(reader.stdout.readline()) for _ in range(len(self.expected) // 3)]

    def check_rotation(self, new_key, gap):
        with self.daemon(self.rate()) as daemon:
            reader, first = self.begin(daemon)
            self.store.replace_keys(new_key)
            time.sleep(gap)
            self.assertIsNone(reader.poll(), daemon.log())
            self.put_key(new_key)
            with reader:
                rest = [json.loads(line) for line in reader.stdout]
            self.assertEqual(reader.returncode, 0, daemon.log())
            self.check_equal_batches(whole(first + rest), self.expected)
            self.assertGreater(daemon.total("echoline_source_wait_seconds_total", reason="credentials"), 0)
            log = daemon.log()
            self.assertEqual(log.count("a store refuses the credentials from profile default in"), 1, log)
            for key in (self.store.environment, new_key):
                self.assertNotIn(key["AWS_SECRET_ACCESS_KEY"], log)

    def test_a_new_key_costs_only_time(self):
        self.check_rotation({"AWS_ACCESS_KEY_ID": "echoline-second", "AWS_SECRET_ACCESS_KEY": "second-secret-456"}, GAP)

    def test_a_new_secret_of_the_same_key_costs_only_time(self):
        self.check_rotation(self.store.environment | {"AWS_SECRET_ACCESS_KEY": "third-secret-7890"}, GAP)

    def test_a_key_that_stays_wrong_is_an_error_after_the_time_limit(self):
        with self.daemon(self.rate(), ", timeout: 2s, on_error: fail") as daemon:
            reader, _ = self.begin(daemon)
            self.store.replace_keys({"AWS_ACCESS_KEY_ID": "echoline-other", "AWS_SECRET_ACCESS_KEY": "other-secret-12"})
            _, errors = reader.communicate(timeout=PATIENCE)
            self.assertNotEqual(reader.returncode, 0)
            self.assertIn(f"check the access key, which is from profile default in {self.file}", errors.decode())

    def test_trainers_wait_for_a_key_that_comes_after_the_time_limit(self):
        with self.daemon(self.rate(), ", timeout: 3s") as daemon:
            reader, first = self.begin(daemon)
            key = {"AWS_ACCESS_KEY_ID": "echoline-late", "AWS_SECRET_ACCESS_KEY": "late-secret-12345"}
            self.store.replace_keys(key)
            wait_until(lambda: "trainers wait (read.on_error: wait)" in daemon.log(), daemon.log)
            self.put_key(key)
            with reader:
                rest = [json.loads(line) for line in reader.stdout]
            self.assertEqual(reader.returncode, 0, daemon.log())
        self.check_equal_batches(whole(first + rest), self.expected)


if __name__ == "__main__":
    main()
