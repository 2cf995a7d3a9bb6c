#!/usr/bin/env python3
"""A daemon that its service manager watches gives signs of life, under load too, and none while it is stopped."""
import os
import select
import signal
import tempfile
import unittest

import line_photos
from daemon_process import PATIENCE, Daemon, stream_yaml

WATCHED = {"WATCHDOG_USEC": "1000000"}


class Watchdog(unittest.TestCase):
    def sign(self, daemon, seconds):
        """Whether one comes in time."""
        readable, _, _ = select.select([daemon._notify], [], [], seconds)
        return bool(readable) and daemon._notify.recv(4096) == b"WATCHDOG=1"

    def test_signs_of_life(self):
        with tempfile.TemporaryDirectory() as data:
            url = line_photos.made_shards(data, shards=1, records=16)[0]
            stream = stream_yaml([f"read: {{url: '{url}'}}", "decode: {image: {key: jpg, as: rgb}}",
                                  "resize: {field: image, size: [8, 8]}", "batch: {size: 4}"])
            with Daemon(stream, environment=WATCHED) as daemon:
                reader = daemon.reader("--epochs", 1000000)
                self.addCleanup(reader.communicate)
                self.addCleanup(reader.kill)
                for _ in range(4):
                    self.assertTrue(self.sign(daemon, PATIENCE))
                os.kill(daemon.process.pid, signal.SIGSTOP)
                while self.sign(daemon, 0.2):
                    pass
                self.assertFalse(self.sign(daemon, 1.5))
                os.kill(daemon.process.pid, signal.SIGCONT)
                self.assertTrue(self.sign(daemon, PATIENCE))


if __name__ == "__main__":
    unittest.main(verbosity=2)
