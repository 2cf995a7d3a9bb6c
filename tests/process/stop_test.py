#!/usr/bin/env python3
"""How a daemon stops while a trainer takes no batches, by one signal and by two."""
import json
import os
import signal
import subprocess
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, binary, end_with_parent, wait_until, wait_until_still


class Stop(ProcessCase):
    def setUp(self):
        super().setUp()
        shard = photos.made_shards(self.folder(), shards=1, records=16)[0]
        self.daemon = self.started(Daemon(stream_yaml(photos.pipeline(shard))))
        self.trainer = subprocess.Popen(
            [binary("ECHOLINE_CLI"), "read", "train", "--epochs", "1000000", "--reattach", "0s", "--runtime-dir",
             str(self.daemon.runtime_dir)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_parent)
        self.addCleanup(self.end_trainer)
        wait_until(lambda: "attached" in self.daemon.log(), self.daemon.log)
        os.kill(self.trainer.pid, signal.SIGSTOP)
        # With a full ring the daemon has something to wait for.
        wait_until_still(self.published, "a full ring", pause=0.2)

    def published(self):
        return json.loads(self.daemon.command("list", "--json").stdout)[0]["batches"]

    def end_trainer(self):
        self.trainer.kill()
        self.trainer.wait()

    def signal_twice(self, pause):
        """(exit code, seconds from the second signal to the end)"""
        self.daemon.process.send_signal(signal.SIGTERM)
        time.sleep(pause)
        second = time.monotonic()
        self.daemon.process.send_signal(signal.SIGTERM)
        code = self.daemon.process.wait(PATIENCE)
        return code, time.monotonic() - second

    def test_two_signals_in_quick_succession_count_as_one(self):
        code, seconds = self.signal_twice(0.05)
        self.assertEqual(code, 0, self.daemon.log())
        self.assertGreater(seconds, 3, "the daemon did not wait for the trainer")
        self.assertNotIn("ending at once", self.daemon.log())

    def test_a_second_signal_later_ends_at_once(self):
        code, seconds = self.signal_twice(1)
        self.assertEqual(code, 1, self.daemon.log())
        self.assertLess(seconds, 3)
        self.assertIn("ending at once", self.daemon.log())


if __name__ == "__main__":
    main()
