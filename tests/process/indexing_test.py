#!/usr/bin/env python3
"""While a daemon indexes its data it says how far it is, a stop ends it at once, and a killed pass continues."""
import json
import re
import signal
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, wait_until

SHARDS = 40
SECONDS = 8  # of the whole pass


class Indexing(ProcessCase):
    def setUp(self):
        super().setUp()
        paths = photos.made_shards(self.folder(), shards=SHARDS, records=4)
        self.bytes = sum(path.stat().st_size for path in paths)
        throttle = f", throttle: {{rate: {self.bytes // SECONDS >> 10}KiB/s, latency: 1ms}}"
        self.daemon = Daemon(stream_yaml(photos.pipeline(paths[0].parent / "*.tar", throttle)), metrics=True)
        self.addCleanup(self.daemon.close)

    def status(self):
        """The stream as `list` shows it; empty before the daemon answers."""
        answer = self.daemon.command("list", "--json")
        streams = json.loads(answer.stdout) if answer.returncode == 0 else []
        return streams[0] if streams else {}

    def await_share(self, share):
        """Waits until this share of the bytes is indexed."""
        def indexed():
            seen = self.status().get("indexing")
            return seen and seen["bytes_done"] >= share * seen["bytes"]
        wait_until(indexed, self.daemon.log)

    def test_progress_is_seen_from_outside_and_a_stop_ends_the_pass(self):
        self.daemon.spawn()
        self.await_share(0.2)
        seen = self.status()
        self.assertEqual(seen["state"], "opening")
        self.assertEqual(seen["indexing"]["shards"], SHARDS)
        self.assertEqual(seen["indexing"]["bytes"], self.bytes)
        self.assertLess(abs(seen["indexing"]["seconds_left"] - SECONDS * 0.8), SECONDS * 0.4)
        self.assertRegex(self.daemon.command("list").stdout, r"train +opening .* indexing: \d+ of 40 shards, .* left")
        self.assertRegex(self.daemon.command("show", "train").stdout, r"train: opening: indexing: \d+ of 40 shards")
        left = self.daemon.total("echoline_index_left_bytes")
        self.assertTrue(0 < left < self.bytes * 0.8, left)
        begin = time.monotonic()
        self.assertEqual(self.daemon.stop(), 0, self.daemon.log())
        self.assertLess(time.monotonic() - begin, 1)

    def test_a_killed_pass_continues(self):
        self.daemon.spawn()
        self.await_share(0.5)
        self.daemon.stop(signal.SIGKILL)
        self.daemon.start()
        taken = re.search(r"an interrupted index pass had scanned (\d+) of 40 shards", self.daemon.log())
        self.assertTrue(taken, self.daemon.log())
        # Up to 16 shards were being read.
        self.assertGreaterEqual(int(taken[1]), SHARDS // 2 - 16)
        read = self.daemon.total("echoline_source_bytes_total")
        self.assertLessEqual(read, (SHARDS - int(taken[1])) * self.bytes / SHARDS * 1.2 + (1 << 20))
        self.assertEqual(self.daemon.total("echoline_stream_records"), 4 * SHARDS)
        self.assertEqual(self.daemon.total("echoline_index_left_bytes"), 0)


if __name__ == "__main__":
    main()
