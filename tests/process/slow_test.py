#!/usr/bin/env python3
"""A stopped trainer (SIGSTOP) under each policy, a trainer that dies and leaves forked children behind, and ranks that
resume far from each other."""
import json
import os
import signal
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library, wait_until, wait_until_still

SLOTS, STEPS = 4, 10
STOPPED = 2.0  # seconds
# The delay that a busy machine may add.
MACHINE = float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))

require_library()


class SlowJobs(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = photos.made_shards(cls.class_folder(), shards=1, records=8 * STEPS)[0]

    def daemon(self, publish=""):
        steps = [f"read: {{url: '{self.url}', format: webdataset}}", "shuffle: {window: 40}",
                 "decode: {image: {key: jpg, as: rgb}}", "random_resized_crop: {field: image, size: [32, 32]}",
                 "batch: {size: 8}", f"publish: {{slots: {SLOTS}{publish}}}"]
        return Daemon(stream_yaml(steps), metrics=True)

    def jobs(self, daemon, *names):
        found = [self.trainer(daemon, "--job", name) for name in names]
        for trainer in found:
            trainer.await_batches(2)
        return found

    def waited(self, daemon, job):
        """{cause: seconds} of one trainer."""
        lines = daemon.metric_lines("echoline_consumer_wait_seconds_total")
        return {labels.partition('cause="')[2].partition('"')[0]: value for labels, value in lines.items()
                if f'consumer="{job}/0"' in labels}

    def check_sequences(self, trainers):
        """Ends the trainers: each got all steps in order, and all got the same rows and pixels."""
        found = [[line for line in trainer.finish() if "epoch" in line] for trainer in trainers]
        longest = max(found, key=len)
        self.check_steps(longest, STEPS)
        for lines in found:
            self.check_same_as(lines, longest)

    def await_standstill(self, trainer):
        """Waits until the trainer has all published batches; their number."""
        return wait_until_still(lambda: len(trainer.batches()), "a trainer that waits for the stopped job")

    def test_under_wait_all_wait_for_the_stopped_job_and_continue_with_it(self):
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
        """A daemon, and three trainers: the last is stopped, and the others continued for several rings."""
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
        return daemon.total("echoline_slow_jobs_total", outcome=outcome)

    def test_under_split_the_others_go_on_and_so_does_it_after_its_standstill(self):
        daemon, trainers = self.stopped_under("split")
        self.assertEqual(self.outcome(daemon, "split"), 1)
        os.kill(trainers[-1].process.pid, signal.SIGCONT)
        trainers[-1].await_batches(5 * SLOTS)
        self.check_sequences(trainers)

    def test_under_detach_the_others_continue_and_the_stopped_job_ends_with_its_lag_named(self):
        daemon, trainers = self.stopped_under("detach")
        self.assertEqual(self.outcome(daemon, "detached"), 1)
        os.kill(trainers[-1].process.pid, signal.SIGCONT)
        self.assertEqual(trainers[-1].await_end(), 3)
        last = trainers[-1].lines()[-1]
        self.assertEqual(last["error"], "Detached")
        self.assertRegex(last["text"], r"job stopped is \d+ rows behind; publish\.lag is 16")
        self.check_sequences(trainers)

    def test_two_jobs_that_stop_one_after_the_other_do_not_delay_the_third(self):
        with self.daemon(", jobs: [goes, first, second], when_slow: split") as daemon:
            goes, first, second = trainers = self.jobs(daemon, "goes", "first", "second")
            for trainer in (first, second):
                os.kill(trainer.process.pid, signal.SIGSTOP)
                time.sleep(0.15)
            goes.await_more_batches(10 * SLOTS, seconds=20)
            times = [line["time"] for line in goes.batches()]
            self.assertLess(max(after - before for before, after in zip(times, times[1:])), 5 + 4 * MACHINE)
            os.kill(first.process.pid, signal.SIGCONT)
            first.await_more_batches(10 * SLOTS, seconds=20)
            os.kill(second.process.pid, signal.SIGCONT)
            second.await_more_batches(5 * SLOTS, seconds=20)
            self.check_sequences(trainers)

    def test_a_rank_gets_a_message_when_another_one_dies(self):
        with self.daemon() as daemon:
            first = self.trainer(daemon, "--world-size", 2, "--rank", 0)
            # It dies inside an epoch: a rank that ends at the end of an epoch may have finished.
            second = self.trainer(daemon, "--world-size", 2, "--rank", 1, "--stop-after", 5)
            for rank in (first, second):
                rank.await_batches(5)
            second.kill()
            news = wait_until(lambda: [line["news"] for line in first.lines() if "news" in line], "a message")
            self.assertRegex(news[0], rf"rank 1/2 \(process {second.process.pid}\) is gone with its process at epoch \d+ row \d+")
            first.finish()

    def test_forked_children_of_a_killed_trainer_keep_none_of_its_slots(self):
        with self.daemon() as daemon:
            holder = self.trainer(daemon, "--job", "holder", "--keep", 8, "--stop-after", SLOTS, "--forks", 3)
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
                    os.kill(child, signal.SIGKILL)  # fails if a child did not live until now

    def test_ranks_that_resume_from_different_checkpoints_do_not_wait_for_each_other(self):
        with self.daemon() as daemon:
            job = ("--world-size", 2, "--checkpoint")
            ranks = [self.trainer(daemon, *job, "--rank", rank) for rank in (0, 1)]
            for rank in ranks:
                rank.await_batches(40)
            for rank in ranks:
                rank.kill()
            firsts = (30, 10)
            states = [rank.batches()[first - 1]["state"] for rank, first in zip(ranks, firsts)]
            again = [self.trainer(daemon, *job, "--rank", rank, "--state", json.dumps(state))
                     for rank, state in enumerate(states)]
            for first, trainer in zip(firsts, again):
                trainer.await_batches(10 * SLOTS, seconds=15)
                self.check_steps(trainer.finish(), STEPS, first)


if __name__ == "__main__":
    main()
