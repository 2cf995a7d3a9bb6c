#!/usr/bin/env python3
"""Caches from outside: what share of each epoch they serve, what the daemon still reads from the store, and that neither
order nor pixels change, whatever happens to the cache. Daemons, disks, memcached servers and kills are real."""
import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import unittest

from support import parquet_files
from support.batches import rows_of
from support.cached_daemon import CachedDaemon
from support.daemon_process import stream_yaml
from support.process_case import ProcessCase, main
from support.programs import wait_until
from support.records import Records

from memcached_server import Memcached  # of tests/servers


def read_rows(daemon):
    return rows_of(daemon.read("--epochs", 2, "--row-checksums"))


class Caches(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.records = Records(cls.class_folder())
        with CachedDaemon(cls.records.stream()) as daemon:
            cls.expected = read_rows(daemon)

    def setUp(self):
        super().setUp()
        self.disk = self.folder() / "cache"

    def disk_step(self, share, more=""):
        return f"{{disk: {{path: {self.disk}, size: {int(share * self.records.bytes)}}}{more}}}"

    def check_rows(self, daemon):
        self.assertEqual(read_rows(daemon), self.expected)

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

    def test_cached_decoded_samples_need_no_bytes_from_the_store(self):
        with CachedDaemon(self.records.stream("", "{memory: 64MB}", read_ahead="64KiB")) as daemon:
            self.check_rows(daemon)
            read = daemon.store_bytes()
            self.check_rows(daemon)
            self.assertLess(daemon.store_bytes() - read, 0.02 * self.records.bytes)
            self.assertGreater(daemon.total("echoline_cache_saved_seconds_total"), 0)

    def test_decoded_samples_never_take_more_than_is_reserved(self):
        """The first records are a hundred times as large as the others, and decode to the same size."""
        records = Records(self.folder(), count=400, first_ballast=2_000_000)
        for memory, share in (("1GiB", 1), ("32KB", 0.45)):
            with self.subTest(memory=memory), CachedDaemon(records.stream("", f"{{memory: {memory}}}")) as daemon:
                daemon.read("--epochs", 3)
                held = daemon.total("echoline_memory_bytes", use="cache")
                self.assertLessEqual(held, daemon.cache_bytes_reserved())
                hits = daemon.hits("memory")
                daemon.read("--epochs", 2)
                self.assertGreaterEqual(daemon.hits("memory") - hits, 2 * share * records.count)

    def test_a_level_has_room_for_all_records_that_are_planned_for_it(self):
        """Also where the level above it ends in the middle of a record."""
        with Memcached() as server:
            for part in (0.23, 0.31, 0.47):
                cache = self.disk_step(0.2, f", memory: {int(part * self.records.bytes)}, fleet: ['{server.address}']")
                with self.subTest(memory=part), CachedDaemon(self.records.stream(cache)) as daemon:
                    daemon.read("--epochs", 4)
                    self.assertGreater(daemon.hits("disk"), 0)
                    self.assertEqual(daemon.failures("disk", "full"), 0)
                shutil.rmtree(self.disk)

    def test_a_lower_size_takes_effect_at_the_next_start(self):
        with CachedDaemon(self.records.stream(self.disk_step(1.1))) as daemon:
            daemon.read("--epochs", 2)
            wait_until(lambda: daemon.total("echoline_cache_bytes", level="disk") > 0.9 * self.records.bytes, "all on the disk")
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

    @unittest.skipUnless(parquet_files.python(), "needs pyarrow")
    def test_other_columns_of_a_parquet_file_are_other_records(self):
        path = self.folder() / "numbers.parquet"
        parquet_files.write_numbers(path, left=range(40), right=range(100, 140))

        def rows(column, cache=""):
            steps = [f"read: {{url: '{path}', parquet: {{columns: [{column}]}}}}", cache, "shuffle: {window: 8}",
                     f"decode: {{number: {{key: {column}, as: int64}}}}", "batch: {size: 8}", "publish: {slots: 4}"]
            with CachedDaemon(stream_yaml(steps)) as daemon:
                return read_rows(daemon)

        disk = f"cache: {{disk: {{path: {self.disk}, size: 1MiB}}}}"
        self.assertNotEqual(rows("left", disk), rows("right"))
        self.assertEqual(rows("right", disk), rows("right"))

    def test_two_daemons_on_one_disk_share_its_records(self):
        stream = self.records.stream(self.disk_step(1.1))
        with CachedDaemon(stream) as one, CachedDaemon(stream) as other:
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                list(pool.map(self.check_rows, (one, other)))
            data = sum(path.stat().st_size for path in self.disk.glob("*/data"))
            self.assertLess(data, 1.02 * self.records.bytes, "a record is stored twice")
            before = one.store_bytes() + other.store_bytes()
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                list(pool.map(self.check_rows, (one, other)))
            self.assertLess(one.store_bytes() + other.store_bytes() - before, 0.02 * self.records.bytes)

    def test_killed_daemons_leave_a_disk_that_the_next_one_uses(self):
        """Kills at any moment while the disk fills; ECHOLINE_DISK_KILLS=100 sets their number."""
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

    def test_a_changed_object_is_not_served_from_the_cache(self):
        folder = self.folder()
        records = Records(folder, count=200, seed=1)
        with CachedDaemon(records.stream(self.disk_step(1))) as daemon:
            daemon.read("--epochs", 2)
        Records(folder, count=200, seed=2)
        with CachedDaemon(records.stream()) as daemon:
            expected = read_rows(daemon)
        with CachedDaemon(records.stream(self.disk_step(1))) as daemon:
            self.assertEqual(read_rows(daemon), expected)
            self.assertGreater(daemon.misses("disk"), 0)

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_full_disk_stops_nothing_and_is_counted(self):
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(self.disk)], check=True)
        try:
            with CachedDaemon(self.records.stream(self.disk_step(1))) as daemon:
                self.assertIn("has room for", daemon.log(), "the log at the start")
                self.check_rows(daemon)
                self.assertGreater(daemon.failures("disk", "full"), 0)
                self.assertGreater(daemon.hits("disk"), 0, "the part that had room must be served")
        finally:
            subprocess.run(["umount", "-l", str(self.disk)], check=True)

    def test_a_disk_that_cannot_be_used_is_an_error_at_start(self):
        blocked = self.disk.parent / "file"
        blocked.write_text("no folder", encoding="ascii")
        stream = self.records.stream(f"{{disk: {{path: {blocked}, size: 10MB}}}}")
        self.assertIn("cache.disk", self.refused(stream))


class CachedMixtures(ProcessCase):
    """Two sources whose records are at the same places of files with the same names, with other bytes."""

    @classmethod
    def setUpClass(cls):
        folder, cls.folders = cls.class_folder(), []
        for name, first in (("a", 1000), ("b", 2000)):
            cls.folders.append(folder / name)
            cls.folders[-1].mkdir()
            lines = [f'{{"y": {label}, "pad": "{name * 4000}"}}\n' for label in range(first, first + 1000)]
            (cls.folders[-1] / "lines.jsonl").write_text("".join(lines), encoding="utf-8")
        cls.bytes = sum((folder / "lines.jsonl").stat().st_size for folder in cls.folders)

    def reads(self, sources):
        return [f"{{url: {folder}/lines.jsonl, format: jsonl, read_ahead: 1MiB}}" for folder in sources]

    def stream(self, first, cache, batch=16):
        return stream_yaml([first, cache and f"cache: {cache}", "shuffle: {window: 300}",
                            "decode: {label: {key: y, as: int64}}", f"batch: {{size: {batch}}}", "publish: {slots: 4}"])

    def mixture(self, cache=""):
        sources = [f"{{name: s{number}, weight: 1, read: {read}}}" for number, read in enumerate(self.reads(self.folders))]
        return self.stream(f"mix: {{sources: [{', '.join(sources)}]}}", cache)

    def share_read(self, stream, expected):
        """How often the records were read from the store. Each start reads all of it once, for the index."""
        with CachedDaemon(stream) as daemon:
            rows = read_rows(daemon) if len(expected) > 2000 else rows_of(daemon.read("--row-checksums"))
            self.assertEqual(rows, expected)
            self.assertEqual(daemon.failures("disk", "corrupt") + daemon.failures("fleet", "corrupt"), 0)
            read, = daemon.settled(daemon.store_bytes)
            return (read - self.bytes) / self.bytes

    def test_disk_and_fleet_serve_all_sources_with_the_keys_of_each_alone(self):
        with CachedDaemon(self.mixture()) as daemon:
            expected = read_rows(daemon)
        disk = f"{{disk: {{path: {self.folder() / 'cache'}, size: 64MiB}}}}"
        with Memcached() as server:
            fleet = f"{{fleet: ['{server.address}']}}"
            for cache in (disk, fleet):
                with self.subTest(cache=cache):
                    self.assertGreater(self.share_read(self.mixture(cache), expected), 0.9)
                    self.assertLess(self.share_read(self.mixture(cache), expected), 0.02)
        with Memcached() as server:
            # A stream that reads the first source alone fills the fleet for the mixture.
            fleet = f"{{fleet: ['{server.address}']}}"
            with CachedDaemon(self.stream(f"read: {self.reads(self.folders)[0]}", fleet)) as daemon:
                daemon.read("--epochs", 2)
            self.assertAlmostEqual(self.share_read(self.mixture(fleet), expected[:2000]), 0.5, delta=0.05)


if __name__ == "__main__":
    main()
