#!/usr/bin/env python3
"""Three daemons, as three hosts of one job, over three memcached servers: together they read the data set from the store
about once. A server that dies, hangs or was never there costs only its share."""
import concurrent.futures
import shutil
import time

from support.batches import rows_of
from support.cached_daemon import CachedDaemon
from support.process_case import ProcessCase, main
from support.programs import run_index
from support.records import Records
from support.store_process import S3Store

from memcached_server import Memcached  # of tests/servers

HOSTS = 3


def read_rows(daemon):
    return rows_of(daemon.read("--epochs", 2, "--row-checksums"))


def read_all(daemons):
    """The rows that each daemon gives, all at the same time."""
    with concurrent.futures.ThreadPoolExecutor(HOSTS) as pool:
        return list(pool.map(read_rows, daemons))


class FleetCase(ProcessCase):
    def setUp(self):
        super().setUp()
        self.servers = [self.enterContext(Memcached(megabytes=128)) for _ in range(3)]

    def cache(self, more=""):
        return "{fleet: [" + ", ".join(f"'{server.address}'" for server in self.servers) + "]" + more + "}"

    def share_read(self, daemons):
        """What the daemons read from the store, in data sets."""
        return sum(daemon.store_bytes() for daemon in daemons) / self.records.bytes


class Fleet(FleetCase):
    @classmethod
    def setUpClass(cls):
        cls.records = Records(cls.class_folder())
        # All hosts get a copy of one index: making it reads from the store, too.
        cls.state = cls.class_folder()
        with CachedDaemon(cls.records.stream()) as daemon:
            shutil.copytree(daemon.state_dir, cls.state, dirs_exist_ok=True)
            cls.expected = read_rows(daemon)

    def hosts(self, cache, more_read=""):
        stream = self.records.stream(cache, more_read=more_read)
        daemons = [self.unstarted(CachedDaemon(stream)) for _ in range(HOSTS)]
        for daemon in daemons:
            shutil.copytree(self.state, daemon.state_dir)
            daemon.start()
        return daemons

    def check_rows(self, daemons):
        for rows in read_all(daemons):
            self.assertEqual(rows, self.expected)

    def test_hosts_together_read_each_object_about_once(self):
        for more in ("", f", memory: {self.records.bytes // 4}"):
            with self.subTest(more=more):
                daemons = self.hosts(self.cache(more))
                begin = time.monotonic()
                self.check_rows(daemons)
                read = self.share_read(daemons)
                print(f"two epochs of {HOSTS} hosts: {read:.3f} times the data set from the store, "
                      f"{time.monotonic() - begin:.1f} s", flush=True)
                self.assertLessEqual(read, 1.1, [daemon.total("echoline_cache_failures_total") for daemon in daemons])
            for server in self.servers:
                server.kill()
                server.start()

    def test_hosts_over_a_slow_store_share_the_work(self):
        daemons = self.hosts(self.cache(), more_read=", throttle: {latency: 5ms}")
        self.check_rows(daemons)
        self.assertLessEqual(self.share_read(daemons), 1.1)

    def test_a_server_that_dies_is_a_miss(self):
        daemons = self.hosts(self.cache())
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            reading = pool.submit(self.check_rows, daemons)
            time.sleep(0.3)
            self.servers[1].kill()
            reading.result()

    def test_a_host_that_dies_with_its_claims_delays_nobody_for_long(self):
        daemons = self.hosts(self.cache(), more_read=", throttle: {latency: 20ms}")
        reader = daemons[0].reader("--epochs", 2)
        reader.stdout.readline()
        daemons[0].process.kill()
        begin = time.monotonic()
        self.check_rows(daemons[1:])
        self.assertLess(time.monotonic() - begin, 60)
        reader.kill()
        reader.communicate()

    def test_servers_that_are_not_there_cost_little(self):
        for server in self.servers:
            server.kill()
        begin = time.monotonic()
        daemon = self.hosts(self.cache())[0]
        self.assertEqual(read_rows(daemon), self.expected)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertGreater(daemon.failures("fleet", "error"), 0)


class FreshHosts(FleetCase):
    def test_with_a_published_index_they_read_the_data_about_once_including_their_starts(self):
        self.records = Records(self.folder())
        store = self.resource(S3Store(self.folder(), self.records.paths))
        published = run_index(store.url, "--endpoint", store.endpoint, "--publish", environment=store.environment)
        self.assertEqual(published.returncode, 0, published.stderr)
        stream = self.records.stream(self.cache(), more_read=f", endpoint: '{store.endpoint}'", address=store.url)
        daemons = [self.started(CachedDaemon(stream, environment=store.reader_environment)) for _ in range(HOSTS)]
        starts = self.share_read(daemons)
        first, *others = read_all(daemons)
        for rows in others:
            self.assertEqual(rows, first)
        read = self.share_read(daemons)
        print(f"{HOSTS} fresh hosts over S3: {read:.3f} times the data set from the store in two epochs, "
              f"{starts:.3f} of it before the first", flush=True)
        self.assertLessEqual(read, 1.1)


if __name__ == "__main__":
    main()
