#!/usr/bin/env python3
"""Links between a host and its preparation servers are cut, so that frames are lost without a message, and healed: while one
server is left, the trainer hardly waits, and its rows are those of a single host."""
import os

from support import photos
from support.daemon_process import Daemon
from support.job_hosts import HostDaemon, Placed
from support.network import Network
from support.preparation import Cluster, PreparationServer
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, require_library, wait_until
from support.trainer_process import Trainer

CUTS = int(os.environ.get("ECHOLINE_CUTS", 3))
# With one server left no batch may wait longer, plus what a busy machine adds.
LONGEST_WAIT = 2.0 + float(os.environ.get("ECHOLINE_MACHINE_SLACK", 1))

require_library()


class PlacedServer(Placed, PreparationServer):
    """A preparation server on a host of its own."""

    def __init__(self, host, cluster):
        self.host = host
        super().__init__(cluster, address=host.address)
        self.name = f"{host.address}:{self.port}"


class CutLinks(ProcessCase):
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

    def await_served(self, server, trainer):
        """Until the server sends samples; each look lets the trainer go on."""
        before = server.total("echoline_serve_samples_total")
        wait_until(lambda: trainer.await_more_batches(5) and server.total("echoline_serve_samples_total") > before,
                   "samples of a server whose link is healed")

    def cut_and_heal(self, server, trainer):
        server.host.cut()
        wait_until(lambda: self.host.total("echoline_prepare_servers", state="reachable") == 1, "a server that is missed")
        trainer.await_more_batches(50)
        server.host.heal()
        self.await_served(server, trainer)

    def test_cut_links_change_no_row_and_delay_no_batch_for_long(self):
        trainer = self.host.host.call(Trainer, self.host, "--rows", "--pace", 0.01)
        self.addCleanup(trainer.kill)
        trainer.await_batches(20)
        for cut in range(CUTS):
            self.cut_and_heal(self.servers[cut % 2], trainer)
        lines = [line for line in trainer.finish() if "epoch" in line]
        longest = max(line["wait"] for line in lines[1:])
        print(f"{CUTS} cuts in {len(lines)} batches, longest wait {longest:.2f} s")
        self.assertLess(longest, LONGEST_WAIT)
        with Daemon(self.cluster.stream()) as alone:
            expected = self.trainer(alone, "--rows")
            expected.await_batches(len(lines), 2 * PATIENCE)
            self.check_equal_batches([line["rows"] for line in lines],
                                     [line["rows"] for line in expected.finish() if "epoch" in line][:len(lines)])


if __name__ == "__main__":
    main()
