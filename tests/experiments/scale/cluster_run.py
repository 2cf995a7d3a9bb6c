"""Real runs for comparison: hosts as network namespaces with a daemon each, nginx in one more, trainers in step."""
import contextlib
import dataclasses
import pathlib
import socket
import subprocess
import sys
import threading

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "process"))

from support.daemon_process import stream_yaml  # noqa: E402
from support.job_hosts import HostDaemon, Store, started  # noqa: E402
from support.network import Network  # noqa: E402
from support.programs import end_with_parent  # noqa: E402
from support.records import DECODE, Records  # noqa: E402

from memcached_server import Memcached  # noqa: E402 - of tests/servers

HOSTS, RANKS = 4, 2
LANES = HOSTS * RANKS
BATCH, SLOTS = 64, 3
STEPS = 32  # of an epoch
EPOCHS = 3
STEP_SECONDS = 0.1  # of a rank alone
READ_AHEAD = 2 << 20
# A frame of 1,514 bytes carries 1,448 bytes of data, and the shaped links count frames.
FRAMES = 1514 / 1448


@dataclasses.dataclass(frozen=True)
class Setting:
    """Rates in bytes per second of data; 0: not limited. `links` are those of the hosts."""
    name: str
    store: float = 0
    links: tuple = (0, 0, 0, 0)
    fleet: bool = False
    late: str = ""  # of read.throttle


class Barrier:
    """Lets all ranks go when each has sent a byte, and ends when one is gone."""

    def __init__(self, folder, ranks):
        self.path, self._ranks = pathlib.Path(folder, "barrier"), ranks
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(ranks)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            ranks = [stack.enter_context(self._listener.accept()[0]) for _ in range(self._ranks)]
            while all(rank.recv(1) for rank in ranks):
                for rank in ranks:
                    rank.sendall(b"x")

    def close(self):
        self._listener.close()


class Cluster:
    """The machines of all settings: four hosts and a store with a published index."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.records = Records(self.folder, BATCH * STEPS, shards=8, ballast=(17_000, 24_000))
        self.network = Network()
        store_host = self.network.add()
        self.hosts = [self.network.add() for _ in range(HOSTS)]
        self.store = Store(store_host, self.folder, self.records.paths)
        self.record_bytes = self.records.bytes / self.records.count

    def stop(self):
        self.store.stop()
        self.network.stop()

    def stream(self, setting, fleet):
        throttle = f", throttle: {{{setting.late}}}" if setting.late else ""
        cache = "cache: {fleet: [" + ", ".join(f"'{server.address}'" for server in fleet) + "]}" if fleet else ""
        return stream_yaml([f"read: {{url: '{self.store.url}', format: webdataset, read_ahead: {READ_AHEAD}B, hedge: off"
                            f"{throttle}}}", cache, "shuffle: {window: 64}", DECODE, f"batch: {{size: {BATCH}}}",
                            f"publish: {{slots: {SLOTS}}}"], more=f"    lanes: {LANES}\n")

    def shape(self, setting):
        for host, rate in zip([self.store.host, *self.hosts], [setting.store, *setting.links]):
            host.shape(rate * FRAMES if rate else 1e10)

    def run(self, setting):
        """When the last rank ended each step."""
        with contextlib.ExitStack() as stack:
            fleet = [host.call(Memcached, address=host.address) for host in self.hosts] if setting.fleet else []
            for host, server in zip(self.hosts, fleet):
                host.call(server.start)
                stack.callback(server.kill)
            self.shape(setting)
            stack.callback(self.shape, Setting("unlimited"))
            daemons = stack.enter_context(started(
                [HostDaemon(host, self.stream(setting, fleet), workers=1) for host in self.hosts]))
            return self._train(setting, daemons)

    def _train(self, setting, daemons):
        steps = EPOCHS * STEPS
        with contextlib.closing(Barrier(daemons[0].folder, LANES)) as barrier:
            ranks = [daemons[rank // RANKS].host.call(
                subprocess.Popen, [sys.executable, "-B", str(pathlib.Path(__file__).with_name("step_trainer.py")),
                                   str(daemons[rank // RANKS].runtime_dir), str(barrier.path), str(rank), str(LANES),
                                   str(RANKS), str(steps), str(STEP_SECONDS)],
                stdout=subprocess.PIPE, preexec_fn=end_with_parent) for rank in range(LANES)]
            ends = [[float(line) for line in rank.communicate()[0].splitlines()] for rank in ranks]
        if any(len(of_rank) != steps for of_rank in ends):
            raise RuntimeError(f"{setting.name}: ranks ended after {[len(of_rank) for of_rank in ends]} steps")
        return [max(step) for step in zip(*ends)]
