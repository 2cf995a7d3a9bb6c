#!/usr/bin/env python3
"""What a daemon with a trainer that takes nothing does when it is told to stop, once and twice."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import line_photos
from daemon_process import PATIENCE, Daemon, binary, end_with_parent, stream_yaml


class Stop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        files = []
        for number in range(16):
            content, label = line_photos.photo(number)
            files += [(f"{number:02d}.jpg", content), (f"{number:02d}.cls", str(label).encode())]
        shard = pathlib.Path(folder.name) / "photos.tar"
        line_photos.write_tar(shard, files)
        self.daemon = Daemon(stream_yaml([
            f"read: {{url: '{shard}'}}", "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
            "resize: {field: image, size: [8, 8]}", "batch: {size: 4}"]))
        self.enterContext(self.daemon)
        self.trainer = subprocess.Popen(
            [binary("ECHOLINE_CLI"), "read", "train", "--epochs", "1000000", "--reattach", "0s", "--runtime-dir",
             str(self.daemon.runtime_dir)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_parent)
        self.addCleanup(self.end_trainer)
        deadline = time.monotonic() + PATIENCE
        while "attached" not in self.daemon.log():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        os.kill(self.trainer.pid, signal.SIGSTOP)
        self.await_full_ring(deadline)

    def await_full_ring(self, deadline):
        """Until nothing more is published: then there is something to wait for."""
        before, batches = -1, 0
        while before != batches:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)
            listed = subprocess.run([binary("ECHOLINE_CLI"), "list", "--json", "--runtime-dir",
                                     str(self.daemon.runtime_dir)], check=True, capture_output=True)
            before, batches = batches, json.loads(listed.stdout)[0]["batches"]

    def end_trainer(self):
        self.trainer.kill()
        self.trainer.wait()

    def signal_twice(self, pause):
        """The exit code, and the seconds from the second signal to the end."""
        self.daemon.process.send_signal(signal.SIGTERM)
        time.sleep(pause)
        second = time.monotonic()
        self.daemon.process.send_signal(signal.SIGTERM)
        code = self.daemon.process.wait(PATIENCE)
        return code, time.monotonic() - second

    def test_two_signals_at_once_are_one_wish(self):
        code, seconds = self.signal_twice(0.05)
        self.assertEqual(code, 0, self.daemon.log())
        self.assertGreater(seconds, 3, "the trainer was not waited for")
        self.assertNotIn("ending at once", self.daemon.log())

    def test_a_second_signal_later_ends_at_once(self):
        code, seconds = self.signal_twice(1)
        self.assertEqual(code, 1, self.daemon.log())
        self.assertLess(seconds, 3)
        self.assertIn("ending at once", self.daemon.log())


if __name__ == "__main__":
    unittest.main()
