#!/usr/bin/env python3
"""The S3 server is killed in the middle of an epoch, is away for some seconds and comes back on the same port: the trainer
gets exactly the batches that it would have got, and the metrics name what the daemon waited for. A store that refuses a
third of the requests changes no batch either."""
import json
import os
import time

from support import photos
from support.batches import whole
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.store_process import S3Store

AWAY = float(os.environ.get("ECHOLINE_OUTAGE_SECONDS", 4))
EPOCHS = 3


class Outage(ProcessCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.class_folder()
        cls.store = cls.class_resource(S3Store(folder, photos.shards(folder)))
        with cls.daemon(cls.store.endpoint, rate=0) as daemon:
            cls.expected = whole(daemon.read("--epochs", EPOCHS, "--row-checksums"))

    @classmethod
    def daemon(cls, endpoint, rate):
        """`rate` in bytes/s limits the source (0: no limit)."""
        steps = [f"read: {{{cls.store.read_keys(endpoint=endpoint)}, format: webdataset, "
                 f"read_ahead: 256KiB, throttle: {{rate: {rate}B/s}}}}",
                 "shuffle: {window: 16}", "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                 "random_resized_crop: {field: image, size: [64, 64]}", "batch: {size: 8, last: partial}",
                 "publish: {slots: 2}"]
        return Daemon(stream_yaml(steps), environment=cls.store.environment, metrics=True)

    def class_processes(self):
        return {self.store.server.process.pid}

    def waited(self, daemon, reason):
        return daemon.total("echoline_source_wait_seconds_total", reason=reason)

    def rate(self):
        """Bytes/s at which all epochs take about five seconds."""
        return EPOCHS * sum(path.stat().st_size for path in self.store.paths) // 5

    def test_a_server_that_is_killed_and_comes_back_costs_only_time(self):
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
        self.check_equal_batches(whole(first + rest), self.expected)
        print(f"away for {AWAY} s; the other {len(rest)} batches came {seconds:.1f} s after it was back", flush=True)

    def test_a_store_that_refuses_a_third_of_all_requests_changes_no_batch(self):
        faults = ("--fault", "busy=0.2", "--fault", "reset=0.1", "--fault", "short=0.05")
        proxy = self.server("fault_proxy.py", "--server", f"127.0.0.1:{self.store.port}", *faults)
        with self.daemon(proxy.facts["endpoint"], 0) as daemon:
            found = whole(daemon.read("--epochs", EPOCHS, "--row-checksums"))
            self.assertGreater(self.waited(daemon, "throttled"), 0)
            self.assertGreater(self.waited(daemon, "broken"), 0)
        self.check_equal_batches(found, self.expected)


if __name__ == "__main__":
    main()
