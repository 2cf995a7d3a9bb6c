#!/usr/bin/env python3
"""SIGKILLs trainers, the daemon and the storage server in random order. What each rank of each job read over all its
processes equals an undisturbed run: nothing lost, read twice or out of order.

The default is 40 kills; ECHOLINE_STORM=1000 takes about 4 minutes. ECHOLINE_SEED=N repeats an order of kills. Killed
trainers resume from the state that they wrote last, as from a checkpoint after every batch."""
import concurrent.futures
import json
import os
import random
import signal
import statistics
import time
import zlib

import numpy

from support import storm_streams
from support.daemon_process import Daemon
from support.memory_use import held
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import Records
from support.storm import Away, Heartbeat, absence, longest_alone
from support.store_process import S3Store

KILLS = int(os.environ.get("ECHOLINE_STORM", 40))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
# The promise is 1 s; a busy machine adds its own delay: this one and the heartbeat's.
PROMISE, MACHINE = 1.0, float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))
# The daemon retries a store at least every 3 s (daemon/source/backoff.h).
STORE_RECOVERY = 3.0
# The victims of one round, in random order. A job has up to four trainers; still more than one kill in ten hits the
# daemon.
ROUND = ["daemon", "job"] + 5 * ["trainer"]
STORE_EVERY = 30  # kills

require_library()


class KillStorm(ProcessCase):
    @classmethod
    def setUpClass(cls):
        print(f"ECHOLINE_SEED={SEED} ECHOLINE_STORM={KILLS}", flush=True)
        folder = cls.class_folder()
        records = Records(folder, count=400, ballast=(0, 1000))
        # The server ends with the thread that started it, so one thread makes all starts.
        cls.keeper = cls.enterClassContext(concurrent.futures.ThreadPoolExecutor(1))
        cls.store = cls.class_resource(cls.keeper.submit(S3Store, folder, records.paths).result())

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.daemon_away, self.store_away = Away(), Away(STORE_RECOVERY)
        self.killed = dict.fromkeys(("trainer", "daemon", "store"), 0)
        self.job_kills, self.kills = [], []  # (when, members); of whole jobs, and all
        self.daemon_held, self.witness_held = [], []

    def class_processes(self):
        return {self.store.server.process.pid}

    def daemon(self):
        return Daemon(storm_streams.yaml(self.store), memory="256MiB", environment=self.store.environment)

    def test_every_sequence_is_that_of_the_undisturbed_run(self):
        with self.daemon() as daemon:
            members = storm_streams.members(daemon)
            self.addCleanup(lambda: [member.trainer.kill() for member in members])
            for member in members:
                member.trainer.await_batches(2)
            with Heartbeat() as heartbeat:
                self.kill_at_random(daemon, members)
            for member in members:
                member.trainer.await_more_batches(2)
            for member in members:
                member.finish()
            daemon.check_orderly_stop()
        print(f"killed {self.killed}; batches {sum(len(member.batches) for member in members)}", flush=True)
        self.check_sequences(members)
        self.check_waits(members, heartbeat.late)
        self.check_flat()

    # ---- the kills ----

    def kill_at_random(self, daemon, members):
        """Spares the slow job of the first stream: the memory of this trainer must not grow."""
        witness = next(member for member in members if member.job == "slow")
        victims = [member for member in members if member is not witness]
        order, store_back = [], None
        while sum(self.killed.values()) < KILLS:
            if not order:
                order = self.random.sample(ROUND, len(ROUND))
            store_is_due = self.killed["store"] < sum(self.killed.values()) / STORE_EVERY - 0.5
            if store_is_due and (store_back is None or store_back.done()):
                store_back = self.kill_store()
            kind = order.pop()
            if kind == "daemon":
                self.witness_held.append(held(witness.trainer.process.pid))
                self.kill_daemon(daemon, victims)
            else:
                victim = self.random.choice(victims)
                self.kill_trainers([other for other in victims
                                    if other is victim or (kind == "job" and other.is_of_job(victim))])
            for member in members:
                self.assertIsNone(member.error())
            time.sleep(self.random.uniform(0, 0.3))
        store_back.result()

    def kill_trainers(self, members):
        self.kills.append((time.monotonic(), members))
        if len(members) > 1:
            self.job_kills.append((time.monotonic(), members))
        for member in members:
            member.kill()
        self.killed["trainer"] += len(members)
        for member in members:
            member.start()

    def kill_daemon(self, daemon, victims):
        """Sometimes also kills a trainer while the daemon is away, or the daemon again during its start."""
        self.daemon_held.append(held(daemon.process.pid))
        self.daemon_away.begin()
        daemon.stop(signal.SIGKILL)
        self.killed["daemon"] += 1
        if self.random.random() < 0.3:
            self.kill_trainers([self.random.choice(victims)])
        daemon.spawn()
        if self.random.random() < 0.2:
            time.sleep(self.random.uniform(0, 0.1))
            daemon.stop(signal.SIGKILL)
            self.killed["daemon"] += 1
            daemon.spawn()
        self.await_ready(daemon)
        self.daemon_away.end()

    def await_ready(self, daemon):
        """A start without a store fails; a service manager would start the daemon again, and so does this."""
        while True:
            try:
                return daemon.await_ready()
            except RuntimeError:
                self.assertIn("can't be reached", daemon.log().splitlines()[-1])
                time.sleep(0.1)
                daemon.stop()
                daemon.spawn()

    def kill_store(self):
        """Kills it and lets another thread start it again during the storm; that start as a future."""
        self.store_away.begin()
        self.store.kill()
        self.killed["store"] += 1

        def restart():
            time.sleep(0.2)
            self.store.start()
            self.store_away.end()

        return self.keeper.submit(restart)

    # ---- the checks ----

    def check_sequences(self, members):
        with self.daemon() as daemon:
            calm = storm_streams.members(daemon, hurry=True)
            for member, undisturbed in zip(members, calm, strict=True):
                undisturbed.trainer.await_batches(len(member.batches), seconds=600)
                undisturbed.finish()
                with self.subTest(member.name):
                    self.check_same_as(member.batches, undisturbed.batches)
                self.assertGreater(len(member.batches), KILLS // 10, member.name)
                for line in self.random.sample(member.batches, 5):
                    self.check_planned(daemon, member, line)

    def check_planned(self, daemon, member, line):
        """The rows of one batch equal those that `echoline show` takes from the plan."""
        size = ["--batch-size", member.batch_size] if member.batch_size else []
        done = daemon.command("show", member.stream, "--epoch", line["epoch"], "--step", line["step"], *size)
        planned = json.loads(done.stdout)
        rows = len(planned["uses"])
        part = slice(member.rank * rows // member.world_size, (member.rank + 1) * rows // member.world_size)
        ids, uses = (numpy.array(planned[key][part], kind) for key, kind in
                     (("sample_ids", numpy.uint64), ("uses", numpy.uint32)))
        self.assertEqual(zlib.crc32(uses.tobytes(), zlib.crc32(ids.tobytes())), line["rows"], (member.name, line))

    def check_waits(self, members, machine_late):
        away = self.daemon_away.times + self.store_away.times
        jobs_away = {stream: [absence(begin, killed) for begin, killed in self.job_kills if killed[0].stream == stream]
                     for stream in storm_streams.STREAMS}
        waits = [(longest_alone(end, wait, away + jobs_away[member.stream]), member.name, end, wait)
                 for member in members for end, wait in member.waits]
        longest = max(waits)
        self.print_absences(longest[2], longest[3])
        down = [end - begin for begin, end in self.daemon_away.times]
        print(f"{len(waits)} waits: {longest[0] * 1000:.0f} ms at most with nothing away ({longest[1]}, in "
              f"{longest[3]:.2f} s); the daemon was away for {statistics.median(down):.2f} s, at most "
              f"{max(down):.2f}; the machine delayed a thread with 5 ms of work by up to {machine_late * 1000:.0f} ms",
              flush=True)
        self.assertLess(longest[0], PROMISE + MACHINE + machine_late)

    def print_absences(self, end, wait):
        """Prints what was away near a wait, in seconds from its beginning."""
        for name, away in ("daemon", self.daemon_away), ("store", self.store_away):
            near = [(begin - end + wait, back - end + wait) for begin, back in away.times
                    if begin < end and back > end - wait - 1]
            print(f"{name} away: " + ", ".join(f"{begin:.2f} to {back:.2f}" for begin, back in near), flush=True)
        for begin, killed in self.kills:
            for member in killed:
                back = absence(begin, [member])[1]
                if begin < end and back > end - wait - 1:
                    print(f"{member.name} away: {begin - end + wait:.2f} to {back - end + wait:.2f}", flush=True)

    def check_flat(self):
        for name, found in ("daemon", self.daemon_held), ("the spared trainer", self.witness_held):
            for what, values, slack in zip(("KiB", "descriptors", "threads"), zip(*found), (8192, 16, 4)):
                print(f"{name}: {what} {values[0]} at first, {statistics.median(values)} in the middle, "
                      f"{max(values)} at most", flush=True)
                self.assertLess(max(values), 1.25 * statistics.median(values) + slack, (name, what))


if __name__ == "__main__":
    main()
