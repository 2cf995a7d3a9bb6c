#!/usr/bin/env python3
"""Three daemons, as three hosts of one job, over three memcached servers: they read the data set from the store about
once in all, and a server that dies, hangs or was never there costs its share and nothing else."""
import concurrent.futures
import shutil
import sys
import tempfile
import time
import unittest

from cache_run import CachedDaemon, Records, S3Records, rows_of
from daemon_process import TESTS, run_index

sys.path.insert(0, str(TESTS / "servers"))
from memcached_server import Memcached  # noqa: E402

HOSTS = 3


class FleetOfHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.records = Records(folder.name)
        # The index is made once and given to all hosts: making it reads from the store, too.
        cls.state = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.state.cleanup)
        with CachedDaemon(cls.records.stream("")) as daemon:
            shutil.copytree(daemon.state_dir, cls.state.name, dirs_exist_ok=True)
            cls.expected = rows_of(daemon.read("--epochs", 2, "--row-checksums"))

    def setUp(self):
        self.servers = [Memcached(megabytes=128).start() for _ in range(3)]
        for server in self.servers:
            self.addCleanup(server.kill)

    def cache(self, more=""):
        return "{fleet: [" + ", ".join(f"'{server.address}'" for server in self.servers) + "]" + more + "}"

    def hosts(self, cache, more_read=""):
        stream = self.records.stream(cache, more_read=more_read)
        daemons = [CachedDaemon(stream) for _ in range(HOSTS)]
        for daemon in daemons:
            self.addCleanup(daemon.__exit__)
            shutil.copytree(self.state.name, daemon.state_dir)
            daemon.start()
        return daemons

    def read_all(self, daemons):
        with concurrent.futures.ThreadPoolExecutor(HOSTS) as pool:
            return list(pool.map(lambda daemon: rows_of(daemon.read("--epochs", 2, "--row-checksums")), daemons))

    def from_the_store(self, daemons):
        return sum(daemon.store_bytes() for daemon in daemons) / self.records.bytes

    def test_hosts_read_each_object_about_once_in_all(self):
        for more in ("", f", memory: {self.records.bytes // 4}"):
            with self.subTest(more=more):
                daemons = self.hosts(self.cache(more))
                begin = time.monotonic()
                for rows in self.read_all(daemons):
                    self.assertEqual(rows, self.expected)
                read = self.from_the_store(daemons)
                print(f"two epochs of {HOSTS} hosts: {read:.3f} times the data set from the store, "
                      f"{time.monotonic() - begin:.1f} s", flush=True)
                self.assertLessEqual(read, 1.1, [daemon.total("echoline_cache_failures_total") for daemon in daemons])
            self.tearDownServers()

    def tearDownServers(self):
        for server in self.servers:
            server.kill()
            server.start()

    def test_hosts_over_a_slow_store_share_the_work(self):
        daemons = self.hosts(self.cache(), more_read=", throttle: {latency: 5ms}")
        for rows in self.read_all(daemons):
            self.assertEqual(rows, self.expected)
        self.assertLessEqual(self.from_the_store(daemons), 1.1)

    def test_a_server_that_dies_is_a_miss(self):
        daemons = self.hosts(self.cache())
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            reading = pool.submit(self.read_all, daemons)
            time.sleep(0.3)
            self.servers[1].kill()
            for rows in reading.result():
                self.assertEqual(rows, self.expected)

    def test_a_host_that_dies_with_its_claims_holds_nobody_up_for_long(self):
        daemons = self.hosts(self.cache(), more_read=", throttle: {latency: 20ms}")
        reader = daemons[0].reader("--epochs", 2)
        reader.stdout.readline()
        daemons[0].process.kill()
        begin = time.monotonic()
        for rows in self.read_all(daemons[1:]):
            self.assertEqual(rows, self.expected)
        self.assertLess(time.monotonic() - begin, 60)
        reader.kill()
        reader.communicate()

    def test_servers_that_are_not_there_cost_little(self):
        for server in self.servers:
            server.kill()
        begin = time.monotonic()
        daemon = self.hosts(self.cache())[0]
        self.assertEqual(rows_of(daemon.read("--epochs", 2, "--row-checksums")), self.expected)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertGreater(daemon.failures("fleet", "error"), 0)


class FreshHosts(unittest.TestCase):
    def test_with_a_published_index_they_read_the_data_about_once_their_starts_included(self):
        records = Records(self.enterContext(tempfile.TemporaryDirectory()))
        store = S3Records(records)
        self.addCleanup(store.server.stop)
        servers = [self.enterContext(Memcached(megabytes=128)) for _ in range(3)]
        published = run_index(store.address, "--endpoint", store.endpoint, "--publish", environment=store.writer)
        self.assertEqual(published.returncode, 0, published.stderr)
        stream = records.stream("{fleet: [" + ", ".join(f"'{server.address}'" for server in servers) + "]}",
                                more_read=f", endpoint: '{store.endpoint}'", address=store.address)
        daemons = [self.enterContext(CachedDaemon(stream, environment=store.reader)) for _ in range(HOSTS)]
        starts = sum(daemon.store_bytes() for daemon in daemons) / records.bytes
        with concurrent.futures.ThreadPoolExecutor(HOSTS) as pool:
            first, *others = pool.map(lambda daemon: rows_of(daemon.read("--epochs", 2, "--row-checksums")), daemons)
        for rows in others:
            self.assertEqual(rows, first)
        read = sum(daemon.store_bytes() for daemon in daemons) / records.bytes
        print(f"{HOSTS} fresh hosts over S3: {read:.3f} times the data set from the store in two epochs, "
              f"{starts:.3f} of it before the first", flush=True)
        self.assertLessEqual(read, 1.1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
