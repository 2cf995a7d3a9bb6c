#!/usr/bin/env python3
"""Many connections at once: eight ranks that attach together, and ten thousand connections that never attach while
trainers read."""
import concurrent.futures
import os
import random
import resource
import socket
import threading
import time

from support.batches import whole
from support.daemon_process import Daemon, stream_yaml
from support.memory_use import held
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, require_library, wait_until
from support.records import DECODE, Records

CONNECTIONS = 10_000
OPEN_AT_ONCE = 900  # more than one user may have
# The promise is 1 s; a busy machine adds its own delay.
PROMISE, MACHINE = 1.0, float(os.environ.get("ECHOLINE_MACHINE_SLACK", 0.5))

require_library()


class Crowd(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = Records(cls.class_folder(), count=400, ballast=(0, 100)).url

    def daemon(self):
        steps = [f"read: {{url: '{self.url}', format: webdataset}}", "shuffle: {window: 50}", DECODE,
                 "random_crop: {field: image, size: 8, padding: 2}", "batch: {size: 16, last: partial}",
                 "publish: {slots: 6}"]
        return Daemon(stream_yaml(steps), metrics=True)

    def test_eight_ranks_attach_at_once_and_share_one_pass(self):
        with self.daemon() as daemon:
            expected = whole(daemon.read("--epochs", 3, "--row-checksums"))
        for _ in range(3):
            with self.daemon() as daemon:
                begin = time.monotonic()
                self.assertEqual(daemon.read_as_ranks(8, "--epochs", 3, "--row-checksums"), expected)
                self.assertLess(time.monotonic() - begin, 10, "a rank waited although all were there")
                self.assertEqual(daemon.total("echoline_passes"), 1)

    def test_ten_thousand_connections_delay_no_trainer(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        with self.daemon() as daemon:
            trainers = [self.trainer(daemon, "--job", job, "--pace", 0.001).await_batches(5) for job in ("one", "other")]
            before = held(daemon.process.pid)
            with concurrent.futures.ThreadPoolExecutor(1) as thread:
                served = threading.Event()
                crowd = thread.submit(self.crowd, daemon, served)
                try:
                    attached = [self.attach_time(daemon, f"late{turn}") for turn in range(3)]
                finally:
                    served.set()
                print(f"{crowd.result()} connections", flush=True)
            wait_until(lambda: daemon.total("echoline_door_connections") <= len(trainers), "the end of closed connections",
                       seconds=10)
            after = held(daemon.process.pid)
            for trainer in trainers:
                trainer.await_more_batches(5)
            waits = [line["wait"] for trainer in trainers for line in trainer.finish() if "epoch" in line]
        print(f"longest wait of the trainers {max(waits) * 1000:.0f} ms, to attach "
              f"{max(attached) * 1000:.0f} ms; daemon {before} before, {after} after", flush=True)
        self.assertLess(max(waits), PROMISE + MACHINE)
        self.assertLess(max(attached), PROMISE + MACHINE)
        self.assertLessEqual(abs(after[1] - before[1]), 4, "descriptors")
        self.assertLess(after[0], before[0] + 8192, "KiB")

    def attach_time(self, daemon, job):
        newcomer = self.trainer(daemon, "--job", job, "--join", "current").await_batches(1)
        return next(line["wait"] for line in newcomer.finish() if "attached" in line)

    def crowd(self, daemon, served):
        """Opens connections that send nothing or garbage and stay open as long as the daemon allows, until `served` is set;
        their number."""
        draw, address = random.Random(1), str(daemon.runtime_dir / "door.sock")
        kept, number = [], 0
        while number < CONNECTIONS or not served.is_set():
            kept.append(self.connected(address))
            number += 1
            if number % 2:
                try:
                    kept[-1].send(draw.randbytes(draw.randrange(1, 600)))
                except OSError:
                    pass  # the daemon has closed it
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
            except BlockingIOError:  # the socket's queue is full
                one.close()
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.001)


if __name__ == "__main__":
    main()
