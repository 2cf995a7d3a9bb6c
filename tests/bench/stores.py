"""Tars of 100 MB from an S3 server that is near, far, late or slow: the first epoch of a new daemon whose index exists,
later epochs, WebDataset and SPDL with boto3 (each with its fastest width), and `curl -Z`, which only receives. A proxy
(shaper.cc) makes the store slower. All of them use the same processors, so where these are busy, they are the limit."""
import contextlib
import copy
import functools
import os
import pathlib
import tempfile

from s3 import PEERS, Store, StreamOptions, fastest
from suite import peers
from suite.rounds import Table, busy_share, family_cpu_seconds, interleave, processors
from support.daemon_process import Daemon
from support.programs import free_port
from transfers import RECORD, Shaped, curl, one_run, stream_of

PROGRAMS = ("SHAPER", "ECHOLINE_LIBRARY")
LATER_EPOCHS = 3
LOADERS = ("WebDataset", "SPDL")
# Name: (window of the daemon's shuffle, latency in ms or None without a proxy, bytes/s of a connection, more for the proxy).
STORES = {
    "near, in order": (1, None, 0, []),
    "near, window 1,000": (1000, None, 0, []),
    "30 ms, 90 MB/s a connection": (1, 30, 90e6, []),
    "150 ms": (1, 150, 0, []),
    "30 ms, 1 % of answers after 2 s": (1, 30, 0, ["0.01:2000"]),
    "30 ms, 150 MB/s in all": (1, 30, 0, ["all:150e6"]),
}


def behind(store, proxy):
    """The same store at the address of the proxy."""
    shaped = copy.copy(store)
    shaped.endpoint = proxy.endpoint
    shaped.pids = [*store.pids, proxy.process.pid]
    shaped.environment = store.environment | {"AWS_ENDPOINT_URL": proxy.endpoint, "S3_ENDPOINT_URL": proxy.endpoint}
    return shaped


def daemon_epochs(store, stream, folder):
    """As one_run(), of the first epoch of a new daemon and of later ones."""
    with contextlib.suppress(FileNotFoundError):
        pathlib.Path(folder, "run", "trainers.json").unlink()
    with Daemon(stream, memory="2GiB", environment=store.environment, metrics=free_port(),
                folder=pathlib.Path(folder)) as daemon:
        return one_run(daemon, 1, LATER_EPOCHS, servers=store.pids)


def receive_only(store, folder):
    """As one part of one_run(), of curl over 4 or 16 connections."""
    size = store.records * (RECORD + 1024)

    def with_connections(parallel):
        before, servers = processors(), sum(map(family_cpu_seconds, store.pids))
        rate, cpu = curl(store.endpoint, store.server.facts, store.tars, parallel, folder)
        servers = sum(map(family_cpu_seconds, store.pids)) - servers
        return rate, cpu, busy_share(before, processors()), servers / size * 1e9
    return max(map(with_connections, (4, 16)))


def tables(name, store, window, options, folder):
    stream_options = StreamOptions()
    stream_options.window = window
    stream = stream_of(store.endpoint, store.tars, stream_options, "")
    daemon_epochs(store, stream, folder)  # makes the index, and finds the number of requests, as an earlier run would
    ways = {"Echoline": functools.partial(daemon_epochs, store, stream, folder)}
    for loader in filter(options.wants, LOADERS):
        group, package, loop, widths = PEERS[loader]
        ways[f"{loader} {peers.version(group, package)}"] = fastest(store, group, loop, widths)
    ways["curl -Z"] = functools.partial(receive_only, store, folder)
    found = interleave(ways, options.rounds)
    made = []
    for title, unit, which in ((f"A store: {name}", "MB/s", 0), (f"CPU time, a store: {name}", "CPU-s per GB", 1)):
        rows = [found.row("Echoline", lambda pair: pair[0][which], "Echoline, first epoch"),
                found.row("Echoline", lambda pair: pair[1][which], "Echoline, later epochs")]
        rows += [found.row(way, lambda pair: pair[which]) for way in ways if way != "Echoline"]
        made.append(Table(title, unit, rows, (rows[0].name, rows[1].name), more_is_better=which == 0))
    for title, unit, which in (("The processors, with the server", "busy share", 2),
                               ("CPU time of the server", "CPU-s per GB", 3)):
        rows = [found.row("Echoline", lambda pair: pair[0][which], "Echoline, first epoch"),
                found.row("Echoline", lambda pair: pair[1][which], "Echoline, later epochs"),
                found.row("curl -Z", lambda pair: pair[which])]
        made.append(Table(f"{title}, a store: {name}", unit, rows))
    return made


def measure(options):
    made = []
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = Store(folder, *((4, 10) if options.quick else (5, 100)))
        stack.callback(store.server.stop)
        for place, (name, (window, latency, rate, more)) in enumerate(STORES.items()):
            with contextlib.ExitStack() as of_this:
                shaped = store
                if latency is not None:
                    program = os.environ["SHAPER"]
                    proxy = Shaped(program, store.server.facts["port"], latency, rate, more)
                    of_this.callback(proxy.close)
                    shaped = behind(store, proxy)
                own = folder / f"store-{place}"
                os.mkdir(own)
                made += tables(name, shaped, window, options, own)
    return made
