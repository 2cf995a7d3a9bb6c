#!/usr/bin/env python3
"""SIGKILL at any moment, of trainers and of the daemon: nobody else notices more than a wait, nothing is lost, read
twice or left behind.

By default about 20 trainers and 3 daemons are killed; ECHOLINE_KILLS=200,20 takes so many, ECHOLINE_SEED=N the same
moments again."""
import os
import random
import signal
import statistics
import tempfile
import time
import unittest

import line_photos
from daemon_process import PATIENCE, Daemon, skip, stream_yaml
from leftovers import check_nothing_left, shared_memory
from memory_use import held
from trainer_process import Trainer

TRAINER_KILLS, DAEMON_KILLS = map(int, os.environ.get("ECHOLINE_KILLS", "20,3").split(","))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
# Promised is 1 s; what the machine itself holds back (other work on few cores) comes on top.
PROMISE, MACHINE = 1.0, float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))
BATCH = 8

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"ECHOLINE_SEED={SEED} ECHOLINE_KILLS={TRAINER_KILLS},{DAEMON_KILLS}", flush=True)
        cls.random = random.Random(SEED)
        data = tempfile.TemporaryDirectory()
        cls.addClassCleanup(data.cleanup)
        paths = line_photos.made_shards(data.name, shards=2, records=40)
        cls.url = str(paths[0].parent / "photos-{000000..000001}.tar")

    def daemon(self, **options):
        steps = [f"read: {{url: '{self.url}', format: webdataset}}", "shuffle: {window: 40}",
                 "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                 "echo: {factor: 2, window: 40}",
                 "random_resized_crop: {field: image, size: [32, 32]}", "horizontal_flip: {field: image}",
                 f"batch: {{size: {BATCH}, last: partial}}", "publish: {slots: 4}"]
        return Daemon(stream_yaml(steps), memory="64MiB", **options)

    def undisturbed(self, count):
        """The first `count` batches as a trainer reads them that nobody disturbs."""
        with self.daemon() as daemon:
            trainer = Trainer(daemon).await_batches(count)
            return trainer.finish()

    def check_sequence(self, found, expected):
        """Equal to the undisturbed run: nothing lost, twice, or out of order."""
        keys = ("epoch", "step", "rows", "pixels")
        for place, (one, other) in enumerate(zip(found, expected)):
            self.assertEqual([one[key] for key in keys], [other[key] for key in keys], f"batch {place}")
        self.assertLessEqual(len(found), len(expected))

    def tell_waits(self, name, waits):
        print(f"{name}: {len(waits)}, median {statistics.median(waits) * 1000:.0f} ms, "
              f"longest {max(waits) * 1000:.0f} ms", flush=True)

    # ---- trainers ----

    def test_a_killed_trainers_slots_come_back_at_once(self):
        """The killed one holds every slot, so that the other can go on only by what comes back."""
        with self.daemon() as daemon:
            waits = []
            for turn in range(max(3, TRAINER_KILLS // 10)):
                holder = Trainer(daemon, "--job", f"holder{turn}", "--keep", 8, "--stop-after", 4)
                holder.await_batches(4)
                other = Trainer(daemon, "--job", f"other{turn}").await_batches(4)
                time.sleep(0.2)
                stuck = len(other.batches())
                self.assertLess(stuck, 20, "the other goes on though all slots are held")
                killed_at = time.monotonic()
                holder.kill()
                other.await_batches(stuck + 5)
                waits.append(other.batches()[stuck]["time"] - killed_at)
                other.finish()
            self.tell_waits("waits for a killed trainer's slots", waits)
            self.assertLess(max(waits), PROMISE + MACHINE)

    def test_others_read_on_while_trainers_are_killed(self):
        before = shared_memory()
        with self.daemon() as daemon:
            others = [Trainer(daemon, "--job", "one"), Trainer(daemon, "--job", "paced", "--pace", 0.002)]
            others += [Trainer(daemon, "--job", "ranks", "--rank", rank, "--world-size", 2) for rank in (0, 1)]
            for other in others:
                other.await_batches(1)
            early = None
            for turn in range(TRAINER_KILLS):
                self.kill_one(daemon, turn)
                if turn == TRAINER_KILLS // 4:
                    early = held(daemon.process.pid)
            late = held(daemon.process.pid)
            lines = [other.finish() for other in others]
            self.check_flat(early, late)
            check_nothing_left(self, daemon, before)
        self.check_survivors(lines)

    def kill_one(self, daemon, turn):
        """At any moment from its start on, also while it attaches; half of them hold some slots."""
        join = self.random.choice(["current", "next_epoch", "start"])
        victim = Trainer(daemon, "--job", f"victim{turn}", "--join", join, "--keep", self.random.choice([0, 1, 2]))
        if self.random.random() < 0.3:
            time.sleep(self.random.uniform(0.05, 0.35))
        else:
            victim.await_attached()
            time.sleep(self.random.uniform(0, 0.15))
        victim.kill()

    def check_flat(self, early, late):
        print(f"daemon: {early[0]} KiB, {early[1]} descriptors, {early[2]} threads after a quarter of the kills; "
              f"{late[0]} KiB, {late[1]}, {late[2]} at the end", flush=True)
        self.assertLess(late[0], early[0] * 1.25 + 8192, "resident memory")
        self.assertLessEqual(abs(late[1] - early[1]), 4, "descriptors")
        self.assertLessEqual(abs(late[2] - early[2]), 2, "threads")

    def check_survivors(self, lines):
        found = [[line for line in each if "epoch" in line] for each in lines]
        for each in lines:
            self.assertFalse([line for line in each if "error" in line])
        waits = [line["wait"] for each in found for line in each[1:]]
        self.tell_waits("survivors' batches and their waits", waits)
        expected = self.undisturbed(max(map(len, found)))
        expected = [line for line in expected if "epoch" in line]
        for each in found[:2]:
            self.check_sequence(each, expected)
        steps = [(line["epoch"], line["step"]) for line in expected]
        for each in found[2:]:
            self.assertEqual([(line["epoch"], line["step"]) for line in each], steps[:len(each)])
        self.assertLess(max(waits), PROMISE + MACHINE)

    # ---- the daemon ----

    def test_without_reattach_the_loss_of_the_daemon_is_an_error_within_a_second(self):
        for _ in range(max(2, DAEMON_KILLS // 3)):
            with self.daemon() as daemon:
                # One waits for the daemon, one is at work between its batches.
                trainers = [Trainer(daemon, "--job", f"job{pace}", "--reattach", "0s", "--pace", pace)
                            for pace in (0, 0.05)]
                for trainer in trainers:
                    trainer.await_batches(2)
                time.sleep(self.random.uniform(0, 0.2))
                killed_at = time.monotonic()
                daemon.stop(signal.SIGKILL)
                delays = [self.await_error(trainer) - killed_at for trainer in trainers]
                self.tell_waits("errors after the daemon's death", delays)
                self.assertLess(max(delays), PROMISE + MACHINE)

    def await_error(self, trainer):
        """When it got its error."""
        self.assertEqual(trainer.process.wait(PATIENCE), 3, trainer.lines()[-1:])
        trainer.lines_file.close()
        last = trainer.lines()[-1]
        self.assertEqual(last.get("error"), "DaemonGone", last)
        return last["time"]

    def test_trainers_go_on_with_the_next_batch_when_a_killed_daemon_is_started_again(self):
        before = shared_memory()
        with self.daemon(grace="2s") as daemon:
            jobs = [("one",), ("paced", "--pace", 0.02), ("ranks", "--world-size", 2),
                    ("ranks", "--world-size", 2, "--rank", 1)]
            trainers = [Trainer(daemon, "--job", *job) for job in jobs]
            gaps, sizes = [], []
            for _ in range(DAEMON_KILLS):
                gaps.append(self.kill_and_start(daemon, trainers))
                sizes.append(held(daemon.process.pid))
            found = [[line for line in trainer.finish() if "epoch" in line] for trainer in trainers]
            check_nothing_left(self, daemon, before)
            print(f"daemon after each start: {sizes}", flush=True)
        self.tell_waits("from the daemon's start to every trainer's next batch", gaps)
        expected = [line for line in self.undisturbed(max(map(len, found))) if "epoch" in line]
        for each in found[:2]:
            self.check_sequence(each, expected)
        steps = [(line["epoch"], line["step"]) for line in expected]
        for each in found[2:]:
            self.assertEqual([(line["epoch"], line["step"]) for line in each], steps[:len(each)])

    def kill_and_start(self, daemon, trainers):
        """Kills the daemon while all read; how long the trainers waited after the next was ready."""
        for trainer in trainers:
            trainer.await_batches(len(trainer.batches()) + 2)
        time.sleep(self.random.uniform(0, 0.3))
        daemon.stop(signal.SIGKILL)
        counts = [len(trainer.batches()) for trainer in trainers]
        daemon.start()
        ready = time.monotonic()
        for trainer, count in zip(trainers, counts):
            trainer.await_batches(count + 2)
        return max(trainer.batches()[count]["time"] for trainer, count in zip(trainers, counts)) - ready

    def test_killed_while_it_starts_the_next_start_needs_no_cleaning(self):
        with self.daemon() as daemon:
            expected = daemon.read("--epochs", 1)
            for _ in range(DAEMON_KILLS):
                daemon.stop(signal.SIGKILL)
                daemon.spawn()
                time.sleep(self.random.uniform(0, 0.1))
            daemon.stop(signal.SIGKILL)
            daemon.start()
            self.assertEqual(daemon.read("--epochs", 1), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
