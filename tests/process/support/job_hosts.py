"""Hosts of one job, each with a daemon and the trainers of its ranks in a network namespace, and the store of their data
in one more."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal

from support.cached_daemon import CachedDaemon
from support.programs import run_index, wait_until_still
from support.server_process import Server
from support.trainer_process import Trainer

# What the log of the web server has for each answer.
ANSWER = re.compile(r"(?P<client>\S+) (?P<name>\S+) (?P<status>\d+) (?P<bytes>\d+) "
                    r"(?:bytes=(?P<first>\d+)-(?P<last>\d+)|-)$")


class Store:
    """nginx on a host of its own, with copies of a data set's shards and their published index. `answers` reads what it
    sent to whom."""

    def __init__(self, host, folder, paths):
        self.host, self.log = host, pathlib.Path(folder, "answers")
        self.server = host.call(Server, "web_server.py", "--address", host.address, "--log", self.log)
        self.root = pathlib.Path(self.server.facts["root"])
        for path in paths:
            shutil.copy(path, self.root)
        published = run_index(f"{self.root}/*.tar", "--publish", "--checksums")
        if published.returncode != 0:
            raise RuntimeError(published.stderr)
        self.shards = sorted(path.name for path in paths)
        self._read = 0

    @property
    def url(self):
        stem = self.shards[0].rpartition("-")[0]
        return f"{self.server.facts['endpoint']}/{stem}-{{000..{len(self.shards) - 1:03d}}}.tar"

    def answers(self):
        """The answers since the last call: (client's address, name of the object, first byte, last byte) of each."""
        with open(self.log, encoding="ascii") as log:
            log.seek(self._read)
            lines = log.read().splitlines(keepends=True)
        found = []
        for line in lines:
            if not line.endswith("\n"):
                break
            self._read += len(line)
            answer = ANSWER.match(line.rstrip())
            if answer is None:
                raise RuntimeError(f"unexpected line in the log of nginx: {line}")
            if int(answer["bytes"]) > 0 and answer["status"] in ("200", "206"):
                # What a client that closed its connection did not get was still asked for.
                first = int(answer["first"] or 0)
                last = int(answer["last"]) if answer["last"] else first + int(answer["bytes"]) - 1
                found.append((answer["client"], answer["name"].lstrip("/"), first, last))
        return found

    def answers_at_rest(self):
        """The same, once nobody asks for more."""
        wait_until_still(lambda: self.log.stat().st_size, "a store that nobody asks")
        return self.answers()

    def stop(self):
        self.server.stop()


class Placed:
    """For classes of daemons: the daemon and its readers live in the namespace of `host`."""
    host = None

    def spawn(self, *more):
        return self.host.call(super().spawn, *more)

    def metric_lines(self, name):
        return self.host.call(super().metric_lines, name)

    def reader(self, *arguments, **options):
        return self.host.call(super().reader, *arguments, **options)


class HostDaemon(Placed, CachedDaemon):
    """The daemon of a host, with a state folder that is empty at first."""

    def __init__(self, host, streams, **more):
        self.host = host
        super().__init__(streams, **more)


class Etcd:
    """An etcd on a host of its own, which keeps its data when it is killed."""
    PORT = 2379

    def __init__(self, host, folder):
        self.host, self._folder, self._server = host, pathlib.Path(folder, "etcd"), None
        self.start()

    @property
    def endpoint(self):
        return f"{self.host.address}:{self.PORT}"

    @property
    def pid(self):
        """Of the program that started it."""
        return self._server.process.pid

    def start(self):
        self._server = self.host.call(Server, "etcd_server.py", "--address", self.host.address, "--port", self.PORT,
                                      "--folder", self._folder)

    def kill(self):
        os.kill(self._server.facts["pid"], signal.SIGKILL)
        self.stop()

    def stop(self):
        self._server.stop()


class Job:
    """The trainers of a job: the same number of ranks on each host, started as torchrun does it. `with` kills those that
    still run."""

    def __init__(self, daemons, ranks_per_host, state=None, more=()):
        self._ranks_per_host, self._world_size, self._more = ranks_per_host, len(daemons) * ranks_per_host, more
        self._before = [[] for _ in range(self._world_size)]  # lines of trainers that were replaced
        self.trainers = [self._started(daemons[rank // ranks_per_host], rank, state) for rank in range(self._world_size)]

    def _started(self, daemon, rank, state):
        return daemon.host.call(
            Trainer, daemon, "--rank", rank, "--world-size", self._world_size, "--local-world-size", self._ranks_per_host,
            "--rows", "--checkpoint", "--state", json.dumps(state), *self._more)

    def ranks_of(self, place):
        return range(place * self._ranks_per_host, (place + 1) * self._ranks_per_host)

    def lines(self, rank):
        return self._before[rank] + self.trainers[rank].batches()

    def last_state(self, rank):
        return (self.trainers[rank].last_batch() or self._before[rank][-1])["state"]

    def await_steps(self, count):
        for trainer in self.trainers:
            trainer.await_batches(count)
        return self

    def await_more_steps(self, count):
        for trainer in self.trainers:
            trainer.await_more_batches(count)
        return self

    def steps(self):
        """The batches that all ranks have: [(epoch, valid rows of the ranks in their order)] and the state after the last
        one. After each batch, all ranks have the same state. Rows that fill up a batch must be copies of its rows."""
        whole = list(zip(*map(self.lines, range(self._world_size))))
        batches = []
        for parts in whole:
            if len({(part["epoch"], part["step"], json.dumps(part["state"], sort_keys=True)) for part in parts}) != 1:
                raise AssertionError("ranks at different places: "
                                     f"{[(part['epoch'], part['step'], part['state']) for part in parts]}")
            rows = [tuple(row) for part in parts for row in part["rows"]]
            valid = [row[:3] for row in rows if row[3]]
            if not {row[:3] for row in rows} <= set(valid):
                raise AssertionError(f"rows that no rank has as its own: {rows}")
            batches.append((parts[0]["epoch"], valid))
        return batches, whole[-1][0]["state"]

    def kill(self):
        for trainer in self.trainers:
            trainer.kill()

    def kill_host(self, place):
        for rank in self.ranks_of(place):
            self.trainers[rank].kill()

    def replace_host(self, place, daemon):
        """The ranks of a host that was killed start on another one, from the state after the last batch that all of them
        had."""
        lines = [self.lines(rank) for rank in self.ranks_of(place)]
        count = min(map(len, lines))
        for rank, had in zip(self.ranks_of(place), lines):
            self._before[rank] = had[:count]
            self.trainers[rank] = self._started(daemon, rank, lines[0][count - 1]["state"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


@contextlib.contextmanager
def started(daemons):
    """Starts the daemons at the same time, and stops them in order."""
    with contextlib.ExitStack() as stack:
        for daemon in daemons:
            stack.callback(daemon.close)
            daemon.spawn()
        for daemon in daemons:
            daemon.await_ready()
        yield daemons
