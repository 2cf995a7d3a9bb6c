#!/usr/bin/env python3
"""A killed daemon that starts again waits for trainers that are busy with a step, and not for dead ones. Jobs that shared a
pass share one again."""
import json
import os
import signal
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library

BATCH, SLOTS, STEPS = 8, 4, 10
# The trainers' retries, the daemon's wait for late trainers, the first batch; the machine may be busy.
RESTART = 3.0

require_library()


class Restarts(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = photos.made_shards(cls.class_folder(), shards=1, records=STEPS * BATCH)[0]

    def daemon(self, publish="", grace="20s", **options):
        steps = photos.pipeline(self.url, ", read_ahead: 64KiB", side=32, batch=BATCH, publish=f"slots: {SLOTS}{publish}")
        return Daemon(stream_yaml(steps), grace=grace, **options)

    def restart(self, daemon, trainers, before_start=lambda: None):
        """Kills the daemon while all trainers read and starts it again; for each trainer the seconds from this start until
        it got more batches than can have been ready before."""
        for trainer in trainers:
            trainer.await_more_batches(2)
        daemon.stop(signal.SIGKILL)
        before_start()
        counts = [len(trainer.batches()) for trainer in trainers]
        daemon.start()
        ready = time.monotonic()
        for trainer, count in zip(trainers, counts):
            trainer.await_batches(count + 2 * SLOTS)
        return [trainer.batches()[count + 2 * SLOTS - 1]["time"] - ready for trainer, count in zip(trainers, counts)]

    def check_complete(self, trainer):
        self.check_steps(trainer.finish(), STEPS)

    def test_a_rank_that_died_before_is_not_waited_for(self):
        with self.daemon() as daemon:
            ranks = [self.trainer(daemon, "--world-size", 2, "--rank", rank, "--pace", 0.01) for rank in (0, 1)]
            for rank in ranks:
                rank.await_batches(2)
            ranks[1].kill()
            waits = self.restart(daemon, ranks[:1])
            self.assertLess(max(waits), RESTART)
            self.check_complete(ranks[0])

    def test_a_trainer_that_dies_with_the_daemon_is_not_waited_for(self):
        with self.daemon() as daemon:
            stays, dies = (self.trainer(daemon, "--job", job, "--pace", 0.01).await_batches(2) for job in "ab")
            waits = self.restart(daemon, [stays], dies.kill)
            self.assertLess(max(waits), RESTART)
            self.check_complete(stays)

    def test_a_trainer_in_a_long_step_is_waited_for_and_shares_the_pass(self):
        with self.daemon(publish=", jobs: [quick, long]", metrics=True) as daemon:
            quick = self.trainer(daemon, "--job", "quick", "--pace", 0.02)
            long = self.trainer(daemon, "--job", "long", "--pace", 1.0)
            waits = self.restart(daemon, [quick, long])
            self.assertLess(waits[1], 1.0 * 2 * SLOTS + RESTART)
            self.assertEqual(daemon.metric_lines("echoline_passes"), {'{stream="train"}': 1})
            self.check_complete(quick)
            self.check_complete(long)

    def test_a_trainer_after_the_grace_and_one_from_an_old_checkpoint_continue_exactly(self):
        with self.daemon(grace="1s", metrics=True) as daemon:
            old = self.trainer(daemon, "--job", "old", "--checkpoint").await_batches(15)
            present, absent = (self.trainer(daemon, "--job", job, "--pace", 0.01).await_batches(3)
                               for job in ("present", "absent"))

            def meanwhile():
                os.kill(absent.process.pid, signal.SIGSTOP)
                old.kill()

            waits = self.restart(daemon, [present], meanwhile)
            self.assertGreater(min(waits), 1, "the daemon did not wait for the absent trainer")
            self.assertLess(max(waits), 1 + RESTART)
            checkpoint = old.batches()[4]["state"]
            again = self.trainer(daemon, "--job", "old", "--state", json.dumps(checkpoint)).await_batches(30)
            present.await_more_batches(4 * SLOTS)
            os.kill(absent.process.pid, signal.SIGCONT)
            absent.await_more_batches(4 * SLOTS)
            self.assertEqual(daemon.metric_lines("echoline_passes"), {'{stream="train"}': 3})
            for trainer in (present, absent):
                self.check_complete(trainer)
            self.check_steps(old.batches()[:5] + again.finish(), STEPS)

    def test_trainers_continue_after_an_orderly_stop_and_start(self):
        with self.daemon() as daemon:
            trainers = [self.trainer(daemon, "--job", job, "--pace", pace) for job, pace in (("a", 0.01), ("b", 0.2))]
            for trainer in trainers:
                trainer.await_batches(2)
            self.assertEqual(daemon.stop(), 0, daemon.log())
            counts = [len(trainer.batches()) for trainer in trainers]
            daemon.start()
            for trainer, count in zip(trainers, counts):
                trainer.await_batches(count + 2 * SLOTS)
                self.check_complete(trainer)
            daemon.check_orderly_stop()


if __name__ == "__main__":
    main()
