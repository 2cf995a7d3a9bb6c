#!/usr/bin/env python3
"""Preparation servers and a host as processes: the host's batches are those of a single host, whatever happens to the
servers."""
import signal
import threading
import time

from support import photos
from support.batches import rows_of
from support.certificates import Authority
from support.daemon_process import Daemon
from support.preparation import Cluster, PreparationServer
from support.process_case import ProcessCase, main
from support.programs import wait_until

ECHO = ("echo: {factor: 3, window: 40}",)


def read_rows(daemon, epochs=2):
    return rows_of(daemon.read("--epochs", epochs, "--row-checksums"))


class PreparationCase(ProcessCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.class_folder()
        paths = photos.made_shards(folder, shards=4, records=60)
        cls.cluster = Cluster(folder, f"{folder}/photos-*.tar")
        cls.expected = {}
        for name, more in (("plain", ()), ("echo", ECHO)):
            with Daemon(cls.cluster.stream(more=more)) as daemon:
                cls.expected[name] = read_rows(daemon)
        cls.records = 60 * len(paths)

    def server(self, **more):
        return self.started(PreparationServer(self.cluster, **more))

    def host(self, servers, fallback="wait", more=(), start=True, **prepare):
        step = self.cluster.prepare([server.port for server in servers], fallback, **prepare)
        daemon = self.unstarted(Daemon(self.cluster.stream(step, more=more), metrics=True))
        return daemon.start() if start else daemon


class SameBatches(PreparationCase):
    def test_two_servers_give_the_rows_of_a_single_host(self):
        servers = [self.server(), self.server()]
        host = self.host(servers)
        self.assertEqual(read_rows(host), self.expected["plain"])
        served = [server.total("echoline_serve_samples_total") for server in servers]
        self.assertTrue(all(count > 0 for count in served), served)
        self.assertGreaterEqual(sum(served), 2 * self.records)
        self.assertEqual(host.total("echoline_prepare_local_records_total"), 0)

    def test_an_echo_after_prepare_sends_each_record_once(self):
        servers = [self.server()]
        host = self.host(servers, more=ECHO)
        self.assertEqual(read_rows(host, 1), [row for row in self.expected["echo"] if row[0] == 0])


if __name__ == "__main__":
    main()
