#!/usr/bin/env python3
"""The S3 server is killed in mid-epoch, stays away for some seconds and comes back on the same port: the trainer gets
exactly the batches it would have got, and the metrics say what was waited for. Before it the store refuses a third of
the requests: the same batches again."""
import contextlib
import json
import os
import tempfile
import time
import unittest

import line_photos
from daemon_process import Daemon, Server, free_port, skip, stream_yaml, whole
from store_process import Store

AWAY = float(os.environ.get("ECHOLINE_OUTAGE_SECONDS", 6))
EPOCHS = 3


class Outage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        try:
            cls.store = Store(cls.folder, line_photos.shards(cls.folder))
        except unittest.SkipTest as why:
            skip(why)
        cls.addClassCleanup(lambda: cls.store.server.stop())
        with cls.daemon(cls.store.endpoint, rate=0) as daemon:
            cls.expected = whole(daemon.read("--epochs", EPOCHS, "--row-checksums"))

    @classmethod
    def daemon(cls, endpoint, rate):
        """`rate` in bytes/s (0: none): slow enough that an epoch lasts."""
        steps = [f"read: {{url: '{cls.store.url}', format: webdataset, endpoint: '{endpoint}', region: us-east-1, "
                 f"read_ahead: 256KiB, throttle: {{rate: {rate}B/s}}}}",
                 "shuffle: {window: 16}", "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                 "random_resized_crop: {field: image, size: [64, 64]}", "batch: {size: 8, last: partial}",
                 "publish: {slots: 2}"]
        return Daemon(stream_yaml(steps), environment=cls.store.environment, metrics=free_port())

    def waited(self, daemon, reason):
        lines = daemon.metric_lines("echoline_source_wait_seconds_total")
        return sum(value for labels, value in lines.items() if f'reason="{reason}"' in labels)

    def rate(self):
        """Bytes/s at which all epochs take about five seconds."""
        return EPOCHS * sum(path.stat().st_size for path in self.store.paths) // 5

    def test_a_server_that_is_killed_and_comes_back_costs_time_and_nothing_else(self):
        with self.daemon(self.store.endpoint, self.rate()) as daemon:
            reader = daemon.reader("--epochs", EPOCHS, "--row-checksums")
            first = [json.loads(reader.stdout.readline()) for _ in range(len(self.expected) // 3)]
            self.store.kill()
            time.sleep(AWAY)
            self.assertIsNone(reader.poll(), "the trainer waits")
            self.store.start()
            back = time.monotonic()
            with reader:
                rest = [json.loads(line) for line in reader.stdout]
            self.assertEqual(reader.returncode, 0)
            seconds = time.monotonic() - back
            self.assertGreater(self.waited(daemon, "unreachable"), AWAY / 3)
        self.compare(whole(first + rest))
        print(f"away for {AWAY} s; the other {len(rest)} batches came {seconds:.1f} s after it was back", flush=True)

    def test_a_store_that_refuses_a_third_of_all_requests_changes_no_batch(self):
        with contextlib.closing(Proxy(self.store.port, "busy=0.2", "reset=0.1", "short=0.05")) as proxy:
            with self.daemon(proxy.endpoint, 0) as daemon:
                self.compare(whole(daemon.read("--epochs", EPOCHS, "--row-checksums")))
                self.assertGreater(self.waited(daemon, "throttled"), 0)
                self.assertGreater(self.waited(daemon, "broken"), 0)

    def compare(self, found):
        for one, other in zip(found, self.expected):
            self.assertEqual(one, other)
        self.assertEqual(len(found), len(self.expected))


class Proxy:
    def __init__(self, port, *faults):
        words = [word for fault in faults for word in ("--fault", fault)]
        self.server = Server("fault_proxy.py", "--server", f"127.0.0.1:{port}", *words)
        self.endpoint = self.server.facts["endpoint"]

    def close(self):
        self.server.stop()


if __name__ == "__main__":
    unittest.main(verbosity=2)
