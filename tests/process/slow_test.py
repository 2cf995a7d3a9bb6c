#!/usr/bin/env python3
"""A trainer that stands still (SIGSTOP), as each policy has it, one that dies and leaves forked children behind, and
ranks that come back far from each other."""
import json
import os
import signal
import tempfile
import time
import unittest

import line_photos
from daemon_process import PATIENCE, Daemon, free_port, skip, stream_yaml
from trainer_process import Trainer

SLOTS = 4
STOPPED = 2.0  # seconds
# What the machine itself may hold back.
MACHINE = float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")


class Slow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        data = tempfile.TemporaryDirectory()
        cls.addClassCleanup(data.cleanup)
        cls.url = line_photos.made_shards(data.name, shards=1, records=80)[0]

    def daemon(self, publish=""):
        steps = [f"read: {{url: '{self.url}', format: webdataset}}", "shuffle: {window: 40}",
                 "decode: {image: {key: jpg, as: rgb}}", "random_resized_crop: {field: image, size: [32, 32]}",
                 "batch: {size: 8}", f"publish: {{slots: {SLOTS}{publish}}}"]
        return Daemon(stream_yaml(steps), metrics=free_port())

    def jobs(self, daemon, *names):
        found = [Trainer(daemon, "--job", name) for name in names]
        for trainer in found:
            trainer.await_batches(2)
        return found

    def waited(self, daemon, job):
        """{cause: seconds} of one trainer."""
        lines = daemon.metric_lines("echoline_consumer_wait_seconds_total")
        return {labels.partition('cause="')[2].partition('"')[0]: value for labels, value in lines.items()
                if f'consumer="{job}/0"' in labels}

    def check_sequences(self, trainers):
        """Every step of every epoch each came to, in order, the same rows and pixels for all."""
        found = [[line for line in trainer.finish() if "epoch" in line] for trainer in trainers]
        longest = max(found, key=len)
        self.assertEqual([(line["epoch"], line["step"]) for line in longest],
                         [(place // 10, place % 10) for place in range(len(longest))])
        for lines in found:
            for one, other in zip(lines, longest):
                self.assertEqual([one[key] for key in ("epoch", "step", "rows", "pixels")],
                                 [other[key] for key in ("epoch", "step", "rows", "pixels")])

    def await_standstill(self, trainer):
        """Until it has had what was published; how many batches that is."""
        deadline, before = time.monotonic() + PATIENCE, -1
        while before != (now := len(trainer.batches())):
            self.assertLess(time.monotonic(), deadline, "it goes on though a job of its pass stands still")
            before = now
            time.sleep(0.3)
        return before

    def test_under_wait_all_wait_for_it_and_go_on_with_it(self):
        with self.daemon(", jobs: [one, other, stopped]") as daemon:
            one, other, stopped = trainers = self.jobs(daemon, "one", "other", "stopped")
            os.kill(stopped.process.pid, signal.SIGSTOP)
            counts = [self.await_standstill(trainer) for trainer in (one, other)]
            before = self.waited(daemon, "one")
            time.sleep(STOPPED)
            waits = {cause: value - before.get(cause, 0) for cause, value in self.waited(daemon, "one").items()}
            self.assertEqual([len(trainer.batches()) for trainer in (one, other)], counts)
            self.assertGreater(waits["peer"], STOPPED * 0.8, waits)
            self.assertLess(sum(waits.values()) - waits["peer"], STOPPED * 0.2, waits)
            os.kill(stopped.process.pid, signal.SIGCONT)
            for trainer in trainers:
                trainer.await_batches(max(counts) + 20)
            self.check_sequences(trainers)

    def stopped_under(self, policy):
        """A daemon, and trainers of which the last was stopped while the others went on for several rings."""
        daemon = self.enterContext(self.daemon(f", jobs: [one, other, stopped], when_slow: {policy}"))
        one, other, stopped = trainers = self.jobs(daemon, "one", "other", "stopped")
        os.kill(stopped.process.pid, signal.SIGSTOP)
        counts = [self.await_standstill(trainer) for trainer in (one, other)]
        stopped_at = time.monotonic()
        for trainer, count in zip((one, other), counts):
            trainer.await_batches(count + 5 * SLOTS)
            self.assertLess(trainer.batches()[count]["time"] - stopped_at, 1 + 4 * MACHINE)
        return daemon, trainers

    def outcome(self, daemon, outcome):
        lines = daemon.metric_lines("echoline_slow_jobs_total")
        return next(value for labels, value in lines.items() if f'outcome="{outcome}"' in labels)

    def test_under_split_the_others_go_on_and_so_does_it_after_its_standstill(self):
        daemon, trainers = self.stopped_under("split")
        self.assertEqual(self.outcome(daemon, "split"), 1)
        os.kill(trainers[-1].process.pid, signal.SIGCONT)
        trainers[-1].await_batches(5 * SLOTS)
        self.check_sequences(trainers)

    def test_under_detach_the_others_go_on_and_it_ends_with_its_lag_named(self):
        daemon, trainers = self.stopped_under("detach")
        self.assertEqual(self.outcome(daemon, "detached"), 1)
        os.kill(trainers[-1].process.pid, signal.SIGCONT)
        self.assertEqual(trainers[-1].process.wait(PATIENCE), 3)
        last = trainers[-1].lines()[-1]
        self.assertEqual(last["error"], "Detached")
        self.assertRegex(last["text"], r"job stopped is \d+ rows behind; publish\.lag is 16")
        self.check_sequences(trainers)

    def test_of_two_that_stop_one_after_the_other_neither_holds_up_the_rest(self):
        with self.daemon(", jobs: [goes, first, second], when_slow: split") as daemon:
            goes, first, second = trainers = self.jobs(daemon, "goes", "first", "second")
            for trainer in (first, second):
                os.kill(trainer.process.pid, signal.SIGSTOP)
                time.sleep(0.15)
            goes.await_batches(len(goes.batches()) + 10 * SLOTS, seconds=20)
            times = [line["time"] for line in goes.batches()]
            self.assertLess(max(after - before for before, after in zip(times, times[1:])), 5 + 4 * MACHINE)
            os.kill(first.process.pid, signal.SIGCONT)
            first.await_batches(len(first.batches()) + 10 * SLOTS, seconds=20)
            os.kill(second.process.pid, signal.SIGCONT)
            second.await_batches(len(second.batches()) + 5 * SLOTS, seconds=20)
            self.check_sequences(trainers)

    def test_a_rank_hears_of_the_death_of_another(self):
        with self.daemon() as daemon:
            first = Trainer(daemon, "--world-size", 2, "--rank", 0)
            # It dies amid an epoch: one that is gone at an epoch's end may have had all it wanted.
            second = Trainer(daemon, "--world-size", 2, "--rank", 1, "--stop-after", 5)
            for rank in (first, second):
                rank.await_batches(5)
            second.kill()
            deadline = time.monotonic() + PATIENCE
            while not (news := [line["news"] for line in first.lines() if "news" in line]):
                self.assertLess(time.monotonic(), deadline, "it was not told")
                time.sleep(0.05)
            self.assertRegex(news[0], rf"rank 1/2 \(process {second.process.pid}\) is gone with its process at epoch \d+ row \d+")
            first.finish()

    def test_a_killed_trainers_forked_children_keep_none_of_its_slots(self):
        with self.daemon() as daemon:
            holder = Trainer(daemon, "--job", "holder", "--keep", 8, "--stop-after", SLOTS, "--forks", 3)
            holder.await_batches(SLOTS)
            other, = self.jobs(daemon, "other")
            stuck = self.await_standstill(other)
            children = holder.lines()[-1]["children"]
            try:
                killed_at = time.monotonic()
                holder.kill()
                other.await_batches(stuck + 5)
                self.assertLess(other.batches()[stuck]["time"] - killed_at, 1 + MACHINE)
                self.check_sequences([other])
            finally:
                for child in children:
                    os.kill(child, signal.SIGKILL)  # they must be alive all this time

    def test_ranks_that_come_back_from_different_checkpoints_do_not_wait_for_each_other(self):
        with self.daemon() as daemon:
            job = ("--world-size", 2, "--checkpoint")
            ranks = [Trainer(daemon, *job, "--rank", rank) for rank in (0, 1)]
            for rank in ranks:
                rank.await_batches(40)
            for rank in ranks:
                rank.kill()
            states = [rank.batches()[place]["state"] for rank, place in zip(ranks, (29, 9))]
            again = [Trainer(daemon, *job, "--rank", rank, "--state", json.dumps(state))
                     for rank, state in enumerate(states)]
            for rank, trainer in enumerate(again):
                trainer.await_batches(10 * SLOTS, seconds=15)
                steps = [(line["epoch"], line["step"]) for line in trainer.finish() if "epoch" in line]
                place = (30, 10)[rank]
                self.assertEqual(steps, [divmod(place + step, 10) for step in range(len(steps))])


if __name__ == "__main__":
    unittest.main(verbosity=2)
