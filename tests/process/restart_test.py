#!/usr/bin/env python3
"""A daemon that is killed and started again awaits the trainers that it must and nobody else: those that died before
are not waited for, those that were busy with a step are, and all that shared a preparation share the next one."""
import json
import os
import signal
import tempfile
import time
import unittest

import line_photos
from daemon_process import Daemon, free_port, skip, stream_yaml
from trainer_process import Trainer

BATCH, SLOTS = 8, 4
# The trainers' own look at the door, the daemon's wait for stragglers, the first batch; the machine may be busy.
RESTART = 3.0

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")


class Restarts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        data = tempfile.TemporaryDirectory()
        cls.addClassCleanup(data.cleanup)
        cls.url = line_photos.made_shards(data.name, shards=1, records=80)[0]

    def daemon(self, publish="", grace="20s", **options):
        steps = [f"read: {{url: '{self.url}', format: webdataset, read_ahead: 64KiB}}",
                 "decode: {image: {key: jpg, as: rgb}}", "resize: {field: image, size: [32, 32]}",
                 f"batch: {{size: {BATCH}}}", f"publish: {{slots: {SLOTS}{publish}}}"]
        return Daemon(stream_yaml(steps), grace=grace, **options)

    def restart(self, daemon, trainers, before_start=lambda: None):
        """Kills it while all read, starts it again; seconds from its start until each trainer has had more batches
        than can have stood ready before."""
        for trainer in trainers:
            trainer.await_batches(len(trainer.batches()) + 2)
        daemon.stop(signal.SIGKILL)
        before_start()
        counts = [len(trainer.batches()) for trainer in trainers]
        daemon.start()
        ready = time.monotonic()
        for trainer, count in zip(trainers, counts):
            trainer.await_batches(count + 2 * SLOTS)
        return [trainer.batches()[count + 2 * SLOTS - 1]["time"] - ready for trainer, count in zip(trainers, counts)]

    def check_complete(self, trainer):
        self.check_steps(trainer.finish())

    def check_steps(self, lines):
        """Every step of every epoch it came to, in order."""
        steps = [(line["epoch"], line["step"]) for line in lines if "epoch" in line]
        self.assertEqual(steps, [(place // 10, place % 10) for place in range(len(steps))])

    def test_a_rank_that_died_before_is_not_waited_for(self):
        with self.daemon() as daemon:
            ranks = [Trainer(daemon, "--world-size", 2, "--rank", rank, "--pace", 0.01) for rank in (0, 1)]
            for rank in ranks:
                rank.await_batches(2)
            ranks[1].kill()
            waits = self.restart(daemon, ranks[:1])
            self.assertLess(max(waits), RESTART)
            self.check_complete(ranks[0])

    def test_a_trainer_that_dies_with_the_daemon_is_not_waited_for(self):
        with self.daemon() as daemon:
            stays, dies = (Trainer(daemon, "--job", job, "--pace", 0.01).await_batches(2) for job in "ab")
            waits = self.restart(daemon, [stays], dies.kill)
            self.assertLess(max(waits), RESTART)
            self.check_complete(stays)

    def test_one_in_a_long_step_is_awaited_and_shares_the_pass(self):
        with self.daemon(publish=", jobs: [quick, long]", metrics=free_port()) as daemon:
            quick = Trainer(daemon, "--job", "quick", "--pace", 0.02)
            long = Trainer(daemon, "--job", "long", "--pace", 1.0)
            waits = self.restart(daemon, [quick, long])
            self.assertLess(waits[1], 1.0 * 2 * SLOTS + RESTART)
            self.assertEqual(daemon.metric_lines("echoline_passes"), {'{stream="train"}': 1})
            self.check_complete(quick)
            self.check_complete(long)

    def test_one_that_returns_after_the_grace_and_one_from_an_old_checkpoint_read_on_exactly(self):
        with self.daemon(grace="1s", metrics=free_port()) as daemon:
            old = Trainer(daemon, "--job", "old", "--checkpoint").await_batches(15)
            present, absent = (Trainer(daemon, "--job", job, "--pace", 0.01).await_batches(3)
                               for job in ("present", "absent"))

            def meanwhile():
                os.kill(absent.process.pid, signal.SIGSTOP)
                old.kill()

            waits = self.restart(daemon, [present], meanwhile)
            self.assertGreater(min(waits), 1, "the absent one was not awaited")
            self.assertLess(max(waits), 1 + RESTART)
            checkpoint = old.batches()[4]["state"]
            again = Trainer(daemon, "--job", "old", "--state", json.dumps(checkpoint)).await_batches(30)
            present.await_batches(len(present.batches()) + 4 * SLOTS)
            os.kill(absent.process.pid, signal.SIGCONT)
            absent.await_batches(len(absent.batches()) + 4 * SLOTS)
            self.assertEqual(daemon.metric_lines("echoline_passes"), {'{stream="train"}': 3})
            for trainer in (present, absent):
                self.check_complete(trainer)
            self.check_steps(old.batches()[:5] + again.finish())

    def test_an_orderly_stop_is_the_same(self):
        with self.daemon() as daemon:
            trainers = [Trainer(daemon, "--job", job, "--pace", pace) for job, pace in (("a", 0.01), ("b", 0.2))]
            for trainer in trainers:
                trainer.await_batches(2)
            self.assertEqual(daemon.stop(), 0, daemon.log())
            counts = [len(trainer.batches()) for trainer in trainers]
            daemon.start()
            for trainer, count in zip(trainers, counts):
                trainer.await_batches(count + 2 * SLOTS)
                self.check_complete(trainer)
            self.assertEqual(daemon.stop(), 0, daemon.log())
            self.assertEqual(os.listdir(daemon.runtime_dir) if daemon.runtime_dir.exists() else [], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
