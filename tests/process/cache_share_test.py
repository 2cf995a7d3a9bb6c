#!/usr/bin/env python3
"""A cache of 35 % or 65 % of the data serves just that share of every epoch after the first, and the store is read for
the rest and nothing more: what stands between two wanted records is not read again."""
import os
import pathlib
import sys
import tempfile
import unittest

from cache_run import CachedDaemon, Records
from daemon_process import skip

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")
import echoline  # noqa: E402

EPOCHS = 4


class Share(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.records = Records(folder.name, count=4000)

    def epochs(self, cache, level):
        """(hits, misses, bytes from the store) of each epoch, counted when daemon and trainer stand still: what is
        fetched ahead then belongs to the next epoch, each time as much."""
        with CachedDaemon(self.records.stream(cache, read_ahead="256KiB")) as daemon:
            loader = echoline.Loader("train", runtime_dir=str(daemon.runtime_dir))
            sums = [daemon.settled(lambda: daemon.hits(level), lambda: daemon.misses(level), daemon.store_bytes)]
            for _ in range(EPOCHS):
                for _ in loader:
                    pass
                sums.append(daemon.settled(lambda: daemon.hits(level), lambda: daemon.misses(level),
                                           daemon.store_bytes))
            loader.close()
        return [[now - before for now, before in zip(*pair)] for pair in zip(sums[1:], sums)]

    def check(self, cache, level, share):
        for epoch, (hits, misses, read) in enumerate(self.epochs(cache, level)):
            print(f"{level} {share}: epoch {epoch}: hit share {hits / (hits + misses):.4f}, from the store "
                  f"{read / self.records.bytes:.4f} of the data", flush=True)
            if epoch == 0:
                continue
            self.assertAlmostEqual(hits / (hits + misses), share, delta=0.01)
            self.assertAlmostEqual(read / self.records.bytes, 1 - share, delta=0.03 * (1 - share))

    def test_memory(self):
        for share in (0.35, 0.65):
            with self.subTest(share=share):
                self.check(f"{{memory: {int(share * self.records.bytes)}}}", "memory", share)

    def test_disk(self):
        for share in (0.35, 0.65):
            with self.subTest(share=share), tempfile.TemporaryDirectory() as folder:
                size = int(share * self.records.bytes)
                self.check(f"{{disk: {{path: {pathlib.Path(folder, 'cache')}, size: {size}}}}}", "disk", share)

    def test_memory_and_disk_hold_different_records(self):
        with tempfile.TemporaryDirectory() as folder:
            sizes = [int(share * self.records.bytes) for share in (0.3, 0.4)]
            cache = f"{{memory: {sizes[0]}, disk: {{path: {folder}/cache, size: {sizes[1]}}}}}"
            for _, _, read in self.epochs(cache, "memory")[1:]:
                self.assertAlmostEqual(read / self.records.bytes, 0.3, delta=0.02)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
