"""Hosts of one job, each with a daemon and the trainers of its ranks in a network namespace, and the store of their data
in one more."""
import contextlib
import json
import pathlib
import re
import shutil

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


class Job:
    """The trainers of a job: the same number of ranks on each host, started as torchrun does it. `with` kills those that
    still run."""

    def __init__(self, daemons, ranks_per_host, state=None, more=()):
        world_size = len(daemons) * ranks_per_host
        self.trainers = []
        for rank in range(world_size):
            daemon = daemons[rank // ranks_per_host]
            self.trainers.append(daemon.host.call(
                Trainer, daemon, "--rank", rank, "--world-size", world_size, "--local-world-size", ranks_per_host, "--rows",
                "--checkpoint", "--state", json.dumps(state), *more))

    def await_steps(self, count):
        for trainer in self.trainers:
            trainer.await_batches(count)
        return self

    def steps(self):
        """The batches that all ranks have: [(epoch, valid rows of the ranks in their order)] and the state after the last
        one. Rows that fill up a batch must be copies of its rows."""
        lines = [trainer.batches() for trainer in self.trainers]
        whole = list(zip(*lines))
        batches = []
        for parts in whole:
            if len({(part["epoch"], part["step"]) for part in parts}) != 1:
                raise AssertionError(f"ranks at different steps: {[(part['epoch'], part['step']) for part in parts]}")
            rows = [tuple(row) for part in parts for row in part["rows"]]
            valid = [row[:3] for row in rows if row[3]]
            if not {row[:3] for row in rows} <= set(valid):
                raise AssertionError(f"rows that no rank has as its own: {rows}")
            batches.append((parts[0]["epoch"], valid))
        states = {json.dumps(part["state"], sort_keys=True) for part in whole[-1]}
        if len(states) != 1:
            raise AssertionError(f"the ranks have different states: {states}")
        return batches, json.loads(states.pop())

    def kill(self):
        for trainer in self.trainers:
            trainer.kill()

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
