#!/usr/bin/env python3
"""SIGKILL at any moment, of trainers and of the daemon: others at most wait; nothing is lost, read twice or left behind.

The default is about 20 killed trainers and 3 killed daemons; ECHOLINE_KILLS=200,20 sets these numbers, ECHOLINE_SEED=N
repeats the moments."""
import os
import random
import signal
import statistics
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.memory_use import held
from support.process_case import ProcessCase, main
from support.programs import require_library, wait_until_still

TRAINER_KILLS, DAEMON_KILLS = map(int, os.environ.get("ECHOLINE_KILLS", "20,3").split(","))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
# The promise is 1 s; a busy machine adds its own delay.
PROMISE, MACHINE = 1.0, float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))
BATCH = 8

require_library()


class Kills(ProcessCase):
    @classmethod
    def setUpClass(cls):
        print(f"ECHOLINE_SEED={SEED} ECHOLINE_KILLS={TRAINER_KILLS},{DAEMON_KILLS}", flush=True)
        cls.random = random.Random(SEED)
        folder = cls.class_folder()
        photos.made_shards(folder, shards=2, records=40)
        cls.url = f"{folder}/photos-{{000000..000001}}.tar"

    def daemon(self, **options):
        steps = [f"read: {{url: '{self.url}', format: webdataset}}", "shuffle: {window: 40}",
                 "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                 "echo: {factor: 2, window: 40}",
                 "random_resized_crop: {field: image, size: [32, 32]}", "horizontal_flip: {field: image}",
                 f"batch: {{size: {BATCH}, last: partial}}", "publish: {slots: 4}"]
        return Daemon(stream_yaml(steps), memory="64MiB", **options)

    def undisturbed(self, count):
        """The first `count` batches of a trainer in a run without kills."""
        with self.daemon() as daemon:
            trainer = self.trainer(daemon).await_batches(count)
            trainer.finish()
            return trainer.batches()

    def check_sequences(self, single, ranks):
        """The batches of single trainers, and the steps of ranks, equal those of a run without kills."""
        expected = self.undisturbed(max(map(len, [*single, *ranks])))
        for found in single:
            self.check_same_as(found, expected)
        steps = [(line["epoch"], line["step"]) for line in expected]
        for found in ranks:
            self.assertEqual([(line["epoch"], line["step"]) for line in found], steps[:len(found)])

    def print_waits(self, name, waits):
        print(f"{name}: {len(waits)}, median {statistics.median(waits) * 1000:.0f} ms, "
              f"longest {max(waits) * 1000:.0f} ms", flush=True)

    # ---- trainers ----

    def test_a_killed_trainers_slots_are_free_at_once(self):
        """The killed trainer holds every slot, so that the other one needs these slots to continue."""
        with self.daemon() as daemon:
            waits = []
            for turn in range(max(3, TRAINER_KILLS // 10)):
                holder = self.trainer(daemon, "--job", f"holder{turn}", "--keep", 8, "--stop-after", 4)
                holder.await_batches(4)
                other = self.trainer(daemon, "--job", f"other{turn}").await_batches(4)
                stuck = wait_until_still(lambda: len(other.batches()), "a trainer that lacks slots", pause=0.2)
                self.assertLess(stuck, 20, "it continued although all slots are held")
                killed_at = time.monotonic()
                holder.kill()
                other.await_batches(stuck + 5)
                waits.append(other.batches()[stuck]["time"] - killed_at)
                other.finish()
            self.print_waits("waits for a killed trainer's slots", waits)
            self.assertLess(max(waits), PROMISE + MACHINE)

    def test_other_trainers_continue_while_trainers_are_killed(self):
        with self.daemon() as daemon:
            others = [self.trainer(daemon, "--job", "one"), self.trainer(daemon, "--job", "paced", "--pace", 0.002)]
            others += [self.trainer(daemon, "--job", "ranks", "--rank", rank, "--world-size", 2) for rank in (0, 1)]
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
            daemon.check_orderly_stop()
        self.check_survivors(lines)

    def kill_one(self, daemon, turn):
        """Kills a new trainer at any moment, also while it attaches. Most victims hold some slots."""
        join = self.random.choice(["current", "next_epoch", "start"])
        victim = self.trainer(daemon, "--job", f"victim{turn}", "--join", join, "--keep", self.random.choice([0, 1, 2]))
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
        self.print_waits("survivors' batches and their waits", waits)
        self.check_sequences(found[:2], found[2:])
        self.assertLess(max(waits), PROMISE + MACHINE)

    # ---- the daemon ----

    def test_without_reattach_a_killed_daemon_is_an_error_within_a_second(self):
        for _ in range(max(2, DAEMON_KILLS // 3)):
            with self.daemon() as daemon:
                # One waits for the daemon, one works between its batches.
                trainers = [self.trainer(daemon, "--job", f"job{pace}", "--reattach", "0s", "--pace", pace)
                            for pace in (0, 0.05)]
                for trainer in trainers:
                    trainer.await_batches(2)
                time.sleep(self.random.uniform(0, 0.2))
                killed_at = time.monotonic()
                daemon.stop(signal.SIGKILL)
                delays = [self.await_error(trainer) - killed_at for trainer in trainers]
                self.print_waits("errors after the daemon's death", delays)
                self.assertLess(max(delays), PROMISE + MACHINE)

    def await_error(self, trainer):
        """The time at which the trainer got its error."""
        self.assertEqual(trainer.await_end(), 3, trainer.lines()[-1:])
        last = trainer.lines()[-1]
        self.assertEqual(last.get("error"), "DaemonGone", last)
        return last["time"]

    def test_trainers_continue_with_the_next_batch_when_a_killed_daemon_starts_again(self):
        with self.daemon(grace="2s") as daemon:
            jobs = [("one",), ("paced", "--pace", 0.02), ("ranks", "--world-size", 2),
                    ("ranks", "--world-size", 2, "--rank", 1)]
            trainers = [self.trainer(daemon, "--job", *job) for job in jobs]
            gaps, sizes = [], []
            for _ in range(DAEMON_KILLS):
                gaps.append(self.kill_and_start(daemon, trainers))
                sizes.append(held(daemon.process.pid))
            found = [[line for line in trainer.finish() if "epoch" in line] for trainer in trainers]
            print(f"daemon after each start: {sizes}", flush=True)
            daemon.check_orderly_stop()
        self.print_waits("from the daemon's start to every trainer's next batch", gaps)
        self.check_sequences(found[:2], found[2:])

    def kill_and_start(self, daemon, trainers):
        """Kills the daemon while all trainers read, and starts it again; how long they waited after it was ready."""
        for trainer in trainers:
            trainer.await_more_batches(2)
        time.sleep(self.random.uniform(0, 0.3))
        daemon.stop(signal.SIGKILL)
        counts = [len(trainer.batches()) for trainer in trainers]
        daemon.start()
        ready = time.monotonic()
        for trainer, count in zip(trainers, counts):
            trainer.await_batches(count + 2)
        return max(trainer.batches()[count]["time"] for trainer, count in zip(trainers, counts)) - ready

    def test_a_daemon_killed_during_its_start_starts_again_without_a_clean_up(self):
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
    main()
