"""Runs the daemon for tests (tests/client/ring_server.cc), and computes the values of its rows."""
import os
import shutil
import subprocess
import tempfile

import numpy as np

PROGRAM = os.environ["ECHOLINE_RING_SERVER"]


class RingServer:
    """Defaults: batches of 4 rows, 40 rows per epoch, 4 slots."""

    def __init__(self, **options):
        self.dir = tempfile.mkdtemp(prefix="echoline-test-")
        self.options = [f"{name}={value}" for name, value in options.items()]
        self.start()

    def start(self):
        self.process = subprocess.Popen([PROGRAM, f"dir={self.dir}", *self.options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


def images(epoch, rows):
    rows = np.asarray(list(rows), np.uint64)[:, None]
    return ((epoch * 131 + rows * 7 + np.arange(105, dtype=np.uint64)) % 256).astype(np.uint8).reshape(-1, 5, 7, 3)


def labels(epoch, rows):
    return np.array([epoch * 1_000_000 + row for row in rows], np.int64)


def sample_ids(epoch, rows):
    return np.array([(row * 7919 + epoch * 31) % 1_000_003 for row in rows], np.uint64)


def tokens(row):
    return np.array([row * 10 + i for i in range(row % 5)], np.int32)


def points(row):
    return np.array([row * 10 + i for i in range(row % 5 * 2)], np.float32).reshape(-1, 2) / 2
