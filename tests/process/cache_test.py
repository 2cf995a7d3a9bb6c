#!/usr/bin/env python3
"""Caches from outside: what share of each epoch they serve, what is still read from the store, and that neither order
nor pixels change, whatever happens to the cache. Daemons are processes; disks, memcached servers and kills are real."""
import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from cache_run import CachedDaemon, Records, rows_of
from daemon_process import TESTS

sys.path.insert(0, str(TESTS / "servers"))
from memcached_server import Memcached  # noqa: E402

ARGUMENTS = ("--row-checksums",)


class Caches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.records = Records(folder.name)
        with CachedDaemon(cls.records.stream("")) as daemon:
            cls.expected = rows_of(daemon.read("--epochs", 2, *ARGUMENTS))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.disk = pathlib.Path(folder.name, "cache")

    def disk_step(self, share, more=""):
        return f"{{disk: {{path: {self.disk}, size: {int(share * self.records.bytes)}}}{more}}}"

    def check_rows(self, daemon):
        self.assertEqual(rows_of(daemon.read("--epochs", 2, *ARGUMENTS)), self.expected)

    def test_placement_and_levels_never_change_order_or_pixels(self):
        share = int(0.4 * self.records.bytes)
        with Memcached() as server:
            for cache, after_decode in ((f"{{memory: {share}}}", ""), (self.disk_step(0.4), ""),
                                        (f"{{fleet: '{server.address}'}}", ""), ("", "{memory: 1MB}"),
                                        (self.disk_step(0.3, f", memory: {share}, fleet: ['{server.address}']"), "")):
                with self.subTest(cache=cache or after_decode):
                    with CachedDaemon(self.records.stream(cache, after_decode)) as daemon:
                        self.check_rows(daemon)
                        self.assertGreater(daemon.total("echoline_cache_requests_total", outcome="hit"), 0)

    def test_decoded_samples_that_are_kept_need_no_bytes(self):
        with CachedDaemon(self.records.stream("", "{memory: 64MB}", read_ahead="64KiB")) as daemon:
            self.check_rows(daemon)
            read = daemon.store_bytes()
            self.check_rows(daemon)
            self.assertLess(daemon.store_bytes() - read, 0.02 * self.records.bytes)
            self.assertGreater(daemon.total("echoline_cache_saved_seconds_total"), 0)

    def test_decoded_samples_never_take_more_than_is_reserved_whatever_the_first_records_are_like(self):
        """The first records are a hundred times as large as the others, and decode to the same size."""
        with tempfile.TemporaryDirectory() as folder:
            records = Records(folder, count=400, first_ballast=2_000_000)
            for memory, share in (("1GiB", 1), ("32KB", 0.45)):
                with self.subTest(memory=memory), CachedDaemon(records.stream("", f"{{memory: {memory}}}")) as daemon:
                    daemon.read("--epochs", 3)
                    held = daemon.total("echoline_memory_bytes", use="cache")
                    self.assertLessEqual(held, daemon.cache_bytes_reserved())
                    hits = daemon.hits("memory")
                    daemon.read("--epochs", 2)
                    self.assertGreaterEqual(daemon.hits("memory") - hits, 2 * share * records.count)

    def test_what_fits_by_plan_is_no_failure(self):
        """Where one level ends in the middle of a record, the next has room for what it is to keep nevertheless."""
        with Memcached() as server:
            for part in (0.23, 0.31, 0.47):
                cache = self.disk_step(0.2, f", memory: {int(part * self.records.bytes)}, fleet: ['{server.address}']")
                with self.subTest(memory=part), CachedDaemon(self.records.stream(cache)) as daemon:
                    daemon.read("--epochs", 4)
                    self.assertGreater(daemon.hits("disk"), 0)
                    self.assertEqual(daemon.failures("disk", "full"), 0)
                shutil.rmtree(self.disk)

    def test_a_lowered_size_holds_from_the_next_start_on(self):
        with CachedDaemon(self.records.stream(self.disk_step(1.1))) as daemon:
            daemon.read("--epochs", 2)
            self.assertGreater(daemon.total("echoline_cache_bytes", level="disk"), 0.9 * self.records.bytes)
        with CachedDaemon(self.records.stream(self.disk_step(0.4))) as daemon:
            held = sum(path.stat().st_blocks * 512 for path in self.disk.rglob("*") if path.is_file())
            self.assertLess(held, 0.41 * self.records.bytes)
            self.assertGreater(daemon.total("echoline_cache_bytes", level="disk"), 0.2 * self.records.bytes)
            self.check_rows(daemon)
            self.assertEqual(daemon.failures("disk", "corrupt"), 0)

    def test_a_warm_disk_serves_a_restarted_daemon(self):
        with CachedDaemon(self.records.stream(self.disk_step(1.1))) as daemon:
            self.check_rows(daemon)
            daemon.stop()
            daemon.start()
            self.check_rows(daemon)
            self.assertEqual(daemon.misses("disk"), 0)
            self.assertLess(daemon.store_bytes(), 0.01 * self.records.bytes)

    def test_two_daemons_on_one_disk_share_what_they_keep(self):
        stream = self.records.stream(self.disk_step(1.1))
        with CachedDaemon(stream) as one, CachedDaemon(stream) as other:
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                list(pool.map(self.check_rows, (one, other)))
            data = sum(path.stat().st_size for path in self.disk.glob("*/data"))
            self.assertLess(data, 1.02 * self.records.bytes, "each record is there once")
            before = one.store_bytes() + other.store_bytes()
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                list(pool.map(self.check_rows, (one, other)))
            self.assertLess(one.store_bytes() + other.store_bytes() - before, 0.02 * self.records.bytes)

    def test_killed_daemons_leave_a_disk_that_the_next_one_uses(self):
        """At any moment while the disk is being filled; ECHOLINE_DISK_KILLS=100 takes so many."""
        kills = int(os.environ.get("ECHOLINE_DISK_KILLS", 10 if os.environ.get("ECHOLINE_ALL_CASES") else 3))
        for begun in range(0, kills, 5):
            with CachedDaemon(self.records.stream(self.disk_step(1.1))) as daemon:
                for _ in range(min(5, kills - begun)):
                    reader = daemon.reader("--epochs", 2)
                    for _ in range(random.randrange(60)):
                        reader.stdout.readline()
                    daemon.stop(signal.SIGKILL)
                    reader.kill()
                    reader.communicate()
                    daemon.start()
                self.check_rows(daemon)
                self.assertEqual(daemon.failures("disk", "corrupt"), 0)
                self.assertGreater(daemon.hits("disk"), 0)
            shutil.rmtree(self.disk)

    def test_flipped_bytes_on_disk_are_a_miss_and_counted(self):
        with CachedDaemon(self.records.stream(self.disk_step(1.1))) as daemon:
            self.check_rows(daemon)
            daemon.stop()
            for path in self.disk.glob("*/data"):
                with open(path, "r+b") as data:
                    for place in range(0, path.stat().st_size, path.stat().st_size // 40):
                        data.seek(place)
                        byte = data.read(1)[0]
                        data.seek(place)
                        data.write(bytes([byte ^ 1]))
            daemon.start()
            self.check_rows(daemon)
            self.assertGreaterEqual(daemon.failures("disk", "corrupt"), 38)

    def test_a_changed_object_is_not_served_from_what_was_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            Records(folder, count=200, seed=1)
            records = Records(folder, count=200, seed=1)
            with CachedDaemon(records.stream(self.disk_step(1))) as daemon:
                daemon.read("--epochs", 2)
            Records(folder, count=200, seed=2)
            with CachedDaemon(records.stream("")) as daemon:
                expected = rows_of(daemon.read("--epochs", 2, *ARGUMENTS))
            with CachedDaemon(records.stream(self.disk_step(1))) as daemon:
                self.assertEqual(rows_of(daemon.read("--epochs", 2, *ARGUMENTS)), expected)
                self.assertGreater(daemon.misses("disk"), 0)

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_full_disk_stops_nothing_and_is_counted(self):
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(self.disk)], check=True)
        try:
            with CachedDaemon(self.records.stream(self.disk_step(1))) as daemon:
                self.assertIn("has room for", daemon.log(), "said at the start")
                self.check_rows(daemon)
                self.assertGreater(daemon.failures("disk", "full"), 0)
                self.assertGreater(daemon.hits("disk"), 0, "what had room is served")
        finally:
            subprocess.run(["umount", "-l", str(self.disk)], check=True)

    def test_a_disk_that_cannot_be_used_is_an_error_at_start(self):
        blocked = self.disk.parent / "file"
        blocked.write_text("no folder", encoding="ascii")
        stream = self.records.stream(f"{{disk: {{path: {blocked}, size: 10MB}}}}")
        code, log = CachedDaemon(stream).run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn("cache.disk", log)
        shutil.rmtree(self.disk, ignore_errors=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
