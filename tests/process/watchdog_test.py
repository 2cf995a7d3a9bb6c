#!/usr/bin/env python3
"""A daemon that its service manager watches sends signs of life, under load too, and none while it is stopped."""
import os
import signal

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE

PERIOD = 1.0  # seconds


class Watchdog(ProcessCase):
    def sign_within(self, daemon, seconds):
        return daemon.notification(seconds) == b"WATCHDOG=1"

    def test_signs_of_life_come_while_the_daemon_works_and_only_then(self):
        shard = photos.made_shards(self.folder(), shards=1, records=16)[0]
        daemon = self.started(Daemon(stream_yaml(photos.pipeline(shard)),
                                     environment={"WATCHDOG_USEC": f"{PERIOD * 1e6:.0f}"}))
        reader = daemon.reader("--epochs", 1000000)
        self.addCleanup(reader.communicate)
        self.addCleanup(reader.kill)
        for _ in range(4):
            self.assertTrue(self.sign_within(daemon, PATIENCE))
        os.kill(daemon.process.pid, signal.SIGSTOP)
        while self.sign_within(daemon, 0.2):
            pass  # those sent before the stop
        self.assertFalse(self.sign_within(daemon, 1.5 * PERIOD))
        os.kill(daemon.process.pid, signal.SIGCONT)
        self.assertTrue(self.sign_within(daemon, PATIENCE))


if __name__ == "__main__":
    main()
