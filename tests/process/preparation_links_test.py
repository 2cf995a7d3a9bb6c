#!/usr/bin/env python3
"""Preparation servers, the host's daemon and its trainer are killed, and links to servers are cut, so that frames are lost
without a message, and healed: while one server and the daemon are left, the trainer hardly waits, and its rows are those of
a single host. ECHOLINE_PREPARATION_STORM=N sets the number of kills and cuts, ECHOLINE_SEED=N repeats their order."""
import collections
import os
import random
import signal
import time

from support import photos
from support.daemon_process import Daemon
from support.job_hosts import HostDaemon, Placed
from support.network import Network
from support.preparation import Cluster, PreparationServer
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, require_library, wait_until
from support.storm import Away, Member, longest_alone

STORM = int(os.environ.get("ECHOLINE_PREPARATION_STORM", 4))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
# With one server left no batch may wait longer, plus what a busy machine adds.
LONGEST_WAIT = 2.0 + float(os.environ.get("ECHOLINE_MACHINE_SLACK", 1))

require_library()


class PlacedServer(Placed, PreparationServer):
    """A preparation server on a host of its own."""

    def __init__(self, host, cluster):
        self.host = host
        super().__init__(cluster, address=host.address)
        self.name = f"{host.address}:{self.port}"


class PreparationStorm(ProcessCase):
    def setUp(self):
        super().setUp()
        network = self.resource(Network())
        folder = self.folder()
        photos.made_shards(folder, shards=3, records=60)
        places = [network.add(), network.add()]
        self.cluster = Cluster(folder, f"{folder}/photos-*.tar", [place.address for place in places])
        self.servers = [self.started(PlacedServer(place, self.cluster)) for place in places]
        prepare = self.cluster.prepare([server.name for server in self.servers])
        self.host = self.started(HostDaemon(network.hosts[0], self.cluster.stream(prepare)))
        self.member = Member(self.host, "train", "storm", pace=0.02)
        self.addCleanup(lambda: self.member.trainer.kill())
        self.away = Away()  # the daemon
        self.draw = random.Random(SEED)

    def await_served(self, server):
        """Until the server sends samples; each look lets the trainer go on."""
        before = server.total("echoline_serve_samples_total")
        wait_until(lambda: self.member.trainer.await_more_batches(5)
                   and server.total("echoline_serve_samples_total") > before, "samples of a server that is back")

    def cut_link(self):
        server = self.draw.choice(self.servers)
        server.host.cut()
        wait_until(lambda: self.host.total("echoline_prepare_servers", state="reachable") == 1, "a server that is missed")
        self.member.trainer.await_more_batches(20)
        server.host.heal()
        self.await_served(server)

    def kill_server(self):
        server = self.draw.choice(self.servers)
        server.stop(signal.SIGKILL)
        time.sleep(self.draw.uniform(0, 0.5))
        server.start()
        self.await_served(server)

    def kill_daemon(self):
        self.away.begin()
        self.host.stop(signal.SIGKILL)
        self.host.start()
        self.member.trainer.await_more_batches(2)
        self.away.end()

    def kill_trainer(self):
        self.member.kill()
        self.member.start()
        self.member.trainer.await_batches(1)

    def test_kills_and_cut_links_change_no_row_and_delay_no_batch_for_long(self):
        self.member.trainer.await_batches(20)
        order, done = [], collections.Counter()
        while done.total() < STORM:
            order = order or self.draw.sample([self.cut_link, self.kill_server, self.kill_daemon, self.kill_trainer], 4)
            kind = order.pop()
            kind()
            done[kind.__name__] += 1
        batches = self.member.finish()
        longest = max(longest_alone(end, wait, self.away.times) for end, wait in self.member.waits[2:])
        print(f"ECHOLINE_SEED={SEED} ECHOLINE_PREPARATION_STORM={STORM}: {dict(done)} in {len(batches)} batches, longest wait "
              f"while the daemon ran {longest:.2f} s")
        self.assertLess(longest, LONGEST_WAIT)
        with Daemon(self.cluster.stream()) as alone:
            expected = self.trainer(alone)
            expected.await_batches(len(batches), 5 * PATIENCE)
            self.check_same_as(batches, [line for line in expected.finish() if "epoch" in line])


if __name__ == "__main__":
    main()
