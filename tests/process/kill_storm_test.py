#!/usr/bin/env python3
"""A storm of SIGKILLs, of trainers, of the daemon and of the storage server in random order: what each rank of each job
read over all its processes is what it reads undisturbed, nothing lost, twice or out of order.

By default 40 kills; ECHOLINE_STORM=1000 takes so many, in about 4 minutes. ECHOLINE_SEED=N: the same order again.
Killed trainers go on from the state that they wrote last, as from a checkpoint after every batch."""
import concurrent.futures
import json
import os
import random
import signal
import statistics
import subprocess
import tempfile
import time
import unittest
import zlib

import numpy

import storm_streams
from cache_run import Records
from daemon_process import Daemon, binary, skip
from leftovers import check_nothing_left, shared_memory
from memory_use import held
from storm import Away, Heartbeat, absence, longest_alone
from store_process import Store

KILLS = int(os.environ.get("ECHOLINE_STORM", 40))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
# Promised is 1 s; what the machine itself holds back (other work on few cores) comes on top: this and the heartbeat's.
PROMISE, MACHINE = 1.0, float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))
# A store that is back is asked again within 3 s (daemon/source/backoff.h).
STORE_RECOVERY = 3.0
# In random order; a job has up to four trainers, so that more than one kill in ten is the daemon's.
ROUND = ["daemon", "job"] + 5 * ["trainer"]
STORE_EVERY = 30  # kills

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")


class Storm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"ECHOLINE_SEED={SEED} ECHOLINE_STORM={KILLS}", flush=True)
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        records = Records(folder, count=400, ballast=(0, 1000))
        # The server ends with the thread that started it, so one thread does it all.
        cls.keeper = cls.enterClassContext(concurrent.futures.ThreadPoolExecutor(1))
        try:
            cls.store = cls.keeper.submit(Store, folder, records.paths).result()
        except unittest.SkipTest as why:
            skip(why)
        cls.addClassCleanup(lambda: cls.store.server.stop())

    def setUp(self):
        self.random = random.Random(SEED)
        self.daemon_away, self.store_away = Away(), Away(STORE_RECOVERY)
        self.killed = dict.fromkeys(("trainer", "daemon", "store"), 0)
        self.job_kills = []  # (when, members)
        self.daemon_held, self.witness_held = [], []

    def daemon(self):
        return Daemon(storm_streams.yaml(self.store), memory="256MiB", environment=self.store.environment)

    def test_every_sequence_is_that_of_the_undisturbed_run(self):
        shared_before = shared_memory()
        with self.daemon() as daemon:
            members = storm_streams.members(daemon)
            for member in members:
                member.trainer.await_batches(2)
            with Heartbeat() as heartbeat:
                self.rage(daemon, members)
            for member in members:
                member.trainer.await_batches(len(member.trainer.batches()) + 2)
            for member in members:
                member.finish()
            check_nothing_left(self, daemon, shared_before)
        print(f"killed {self.killed}; batches {sum(len(member.batches) for member in members)}", flush=True)
        self.check_sequences(members)
        self.check_waits(members, heartbeat.late)
        self.check_flat()

    # ---- the kills ----

    def rage(self, daemon, members):
        """Of the slow job of the first stream one trainer lives through it all: its own memory must not grow."""
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
        if len(members) > 1:
            self.job_kills.append((time.monotonic(), members))
        for member in members:
            member.kill()
        self.killed["trainer"] += len(members)
        for member in members:
            member.start()

    def kill_daemon(self, daemon, victims):
        """Sometimes a trainer dies while it is away, sometimes the daemon again while it starts."""
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
        """A start without a store is an error; what watches over daemons (systemd) starts it again."""
        while True:
            try:
                return daemon.await_ready()
            except RuntimeError:
                self.assertIn("can't be reached", daemon.log().splitlines()[-1])
                time.sleep(0.1)
                daemon.stop()
                daemon.spawn()

    def kill_store(self):
        """It comes back by itself, while the storm goes on."""
        self.store_away.begin()
        self.store.kill()
        self.killed["store"] += 1

        def restart():
            time.sleep(0.2)
            self.store.start()
            self.store_away.end()

        return self.keeper.submit(restart)

    # ---- what is right ----

    def check_sequences(self, members):
        keys = ("epoch", "step", "rows", "pixels")
        with self.daemon() as daemon:
            calm = storm_streams.members(daemon, hurry=True)
            for member, undisturbed in zip(members, calm, strict=True):
                undisturbed.trainer.await_batches(len(member.batches), seconds=600)
                undisturbed.finish()
                for place, (one, other) in enumerate(zip(member.batches, undisturbed.batches)):
                    self.assertEqual([one[key] for key in keys], [other[key] for key in keys],
                                     f"{member.name}, batch {place}")
                self.assertGreater(len(member.batches), KILLS // 10, member.name)
                for line in self.random.sample(member.batches, 5):
                    self.check_planned(daemon, member, line)

    def check_planned(self, daemon, member, line):
        """The rows of one batch are those that the plan names, without a trainer."""
        size = ["--batch-size", str(member.batch_size)] if member.batch_size else []
        done = subprocess.run([binary("ECHOLINE_CLI"), "show", member.stream, "--runtime-dir", daemon.runtime_dir,
                               "--epoch", str(line["epoch"]), "--step", str(line["step"]), *size], check=True,
                              capture_output=True)
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
        self.tell_around(longest[2], longest[3])
        down = [end - begin for begin, end in self.daemon_away.times]
        print(f"{len(waits)} waits: {longest[0] * 1000:.0f} ms at most with nothing away ({longest[1]}, in "
              f"{longest[3]:.2f} s); the daemon was away for {statistics.median(down):.2f} s, at most "
              f"{max(down):.2f}; the machine kept a thread from 5 ms of work for up to {machine_late * 1000:.0f} ms",
              flush=True)
        self.assertLess(longest[0], PROMISE + MACHINE + machine_late)

    def tell_around(self, end, wait):
        """What was away near a wait, in seconds from its beginning."""
        for name, away in ("daemon", self.daemon_away), ("store", self.store_away):
            near = [(begin - end + wait, back - end + wait) for begin, back in away.times
                    if begin < end and back > end - wait - 1]
            print(f"{name} away: " + ", ".join(f"{begin:.2f} to {back:.2f}" for begin, back in near), flush=True)

    def check_flat(self):
        for name, found in ("daemon", self.daemon_held), ("a trainer that stayed", self.witness_held):
            for what, values, slack in zip(("KiB", "descriptors", "threads"), zip(*found), (8192, 16, 4)):
                print(f"{name}: {what} {values[0]} at first, {statistics.median(values)} in the middle, "
                      f"{max(values)} at most", flush=True)
                self.assertLess(max(values), 1.25 * statistics.median(values) + slack, (name, what))


if __name__ == "__main__":
    unittest.main(verbosity=2)
