#!/usr/bin/env python3
"""Many at the door at once: eight ranks that attach together, and ten thousand connections that want nothing good while
trainers train."""
import concurrent.futures
import os
import random
import resource
import socket
import tempfile
import threading
import time
import unittest

from cache_run import CachedDaemon, Records
from daemon_process import PATIENCE, skip, stream_yaml, whole
from memory_use import held
from trainer_process import Trainer

CONNECTIONS = 10_000
OPEN_AT_ONCE = 900  # of the crowd's; more than a user may have
# Promised is 1 s; what the machine itself holds back comes on top.
PROMISE, MACHINE = 1.0, float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")


class Crowd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        Records(folder, count=400, ballast=(0, 100))
        cls.url = f"{folder}/records-*.tar"

    def daemon(self):
        steps = [f"read: {{url: '{self.url}', format: webdataset}}", "shuffle: {window: 50}",
                 "decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: int64}}",
                 "random_crop: {field: image, size: 8, padding: 2}", "batch: {size: 16, last: partial}",
                 "publish: {slots: 6}"]
        return CachedDaemon(stream_yaml(steps))

    def test_eight_ranks_attach_at_once_and_share_one_pass(self):
        with self.daemon() as daemon:
            expected = whole(daemon.read("--epochs", 3, "--row-checksums"))
        for _ in range(3):
            with self.daemon() as daemon:
                begin = time.monotonic()
                self.assertEqual(daemon.read_as_ranks(8, "--epochs", 3, "--row-checksums"), expected)
                self.assertLess(time.monotonic() - begin, 10, "a rank waited for one that was there")
                self.assertEqual(daemon.total("echoline_passes"), 1)

    def test_ten_thousand_connections_disturb_nobody(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        with self.daemon() as daemon:
            trainers = [Trainer(daemon, "--job", job, "--pace", 0.001).await_batches(5) for job in ("one", "other")]
            before = held(daemon.process.pid)
            with concurrent.futures.ThreadPoolExecutor(1) as thread:
                served = threading.Event()
                crowd = thread.submit(self.crowd, daemon, served)
                try:
                    attached = [self.attach_time(daemon, f"late{turn}") for turn in range(3)]
                finally:
                    served.set()
                print(f"{crowd.result()} connections", flush=True)
            self.await_alone(daemon, len(trainers))
            after = held(daemon.process.pid)
            for trainer in trainers:
                trainer.await_batches(len(trainer.batches()) + 5)
            waits = [line["wait"] for trainer in trainers for line in trainer.finish() if "epoch" in line]
        print(f"longest wait of those who trained {max(waits) * 1000:.0f} ms, to attach meanwhile "
              f"{max(attached) * 1000:.0f} ms; daemon {before} before, {after} after", flush=True)
        self.assertLess(max(waits), PROMISE + MACHINE)
        self.assertLess(max(attached), PROMISE + MACHINE)
        self.assertLessEqual(abs(after[1] - before[1]), 4, "descriptors")
        self.assertLess(after[0], before[0] + 8192, "KiB")

    def attach_time(self, daemon, job):
        newcomer = Trainer(daemon, "--job", job, "--join", "current").await_batches(1)
        return next(line["wait"] for line in newcomer.finish() if "attached" in line)

    def crowd(self, daemon, served):
        """Connections that say nothing or garbage and stay as long as they may, until others were served meanwhile;
        how many there were."""
        draw, address = random.Random(1), str(daemon.runtime_dir / "door.sock")
        kept, number = [], 0
        while number < CONNECTIONS or not served.is_set():
            kept.append(self.connected(address))
            number += 1
            if number % 2:
                try:
                    kept[-1].send(draw.randbytes(draw.randrange(1, 600)))
                except OSError:
                    pass  # it was put out already
            if len(kept) > OPEN_AT_ONCE:
                kept.pop(draw.randrange(len(kept))).close()
        for one in kept:
            one.close()
        return number

    def connected(self, address):
        deadline = time.monotonic() + PATIENCE
        while True:
            one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            one.setblocking(False)
            try:
                one.connect(address)
                return one
            except BlockingIOError:  # the door's queue is full
                one.close()
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.001)

    def await_alone(self, daemon, trainers):
        """Until nobody but the trainers is connected."""
        deadline = time.monotonic() + 10
        while daemon.total("echoline_door_connections") > trainers:
            self.assertLess(time.monotonic(), deadline, "connections stay that nobody has any more")
            time.sleep(0.1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
