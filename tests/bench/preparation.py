"""Preparation servers: CPU time for each photo that the host decodes or receives, of the host and of the server, compared
with one host that does everything; the rate of one connection, compared with gRPC alone; and what a second server adds.
The pipelines of the photos differ in what comes before `prepare`: whole pictures, or pictures that a `resize` has made
smaller. An echo with factor 2 follows, then a random crop.
"""
import contextlib
import functools
import json
import os
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

import decode_large
from suite.rounds import Row, Table, Unavailable, cpu_seconds, interleave
from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.preparation import Cluster, PreparationServer
from support.programs import binary, free_port, run_program

PROGRAMS = ("WIRE_BENCH",)
RESIZE = "resize: {field: image, size: [256, 256]}"
CROP = "random_crop: {field: image, size: 224}"
LENGTH = 98_304  # of 2 bytes: a sample has as many as a photo of 256 x 256
ARRAYS = 1024
LARGE = 16  # photos: four batches of four
# For two servers. Each photo is a place of its own; with few places, one server would get clearly more than the other.
MANY_LARGE = 64


class Kind(NamedTuple):
    """Photos, and the steps before `prepare` and after the echo."""
    title: str
    large: bool = False
    before: tuple = ()
    after: str = CROP

    @property
    def batch(self):
        return LARGE // 4 if self.large else 32


KINDS = (Kind("whole photos are sent", after="random_resized_crop: {field: image, size: 224}"),
         Kind("photos resized to 256 are sent", before=(RESIZE,)),
         Kind("photos of 12 megapixels, resized to 256, are sent", large=True, before=(RESIZE,)))


class Cpu(NamedTuple):
    """Microseconds for each photo."""
    host: float
    server: float
    sent: float  # bytes


class Wire(NamedTuple):
    rate: float    # MB/s
    server: float  # CPU-seconds for each GB
    host: float


@contextlib.contextmanager
def on_core(core):
    """Programs that are started here run on this core alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(before)[core]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def stream(paths, kind, prepare):
    urls = ", ".join(f"'{path}'" for path in paths)
    # A small read-ahead: at the end, few photos have been received and not used.
    return stream_yaml([f"read: {{url: [{urls}], format: webdataset, read_ahead: 16MiB}}", "shuffle: {window: 128}",
                        "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}", *kind.before,
                        prepare and f"prepare: {prepare}", f"echo: {{factor: 2, window: {8 * kind.batch}}}", kind.after,
                        f"batch: {{size: {kind.batch}}}", "publish: {slots: 4}"])


def read(host, epochs, server=None):
    """The cost of these epochs, without that of the start."""
    def now():
        made = server.total("echoline_serve_samples_total") if server else host.total("echoline_samples_total", kind="fresh")
        return (made, cpu_seconds(host.process.pid), cpu_seconds(server.process.pid) if server else 0.0,
                host.total("echoline_prepare_bytes_total") if server else 0.0)

    host.read("--epochs", 1)
    before = now()
    host.read("--epochs", epochs)
    count, host_cpu, server_cpu, sent = (after - first for first, after in zip(before, now(), strict=True))
    return Cpu(1e6 * host_cpu / count, 1e6 * server_cpu / count, sent / count)


def read_report(host, epochs):
    done = host.command("read", "train", "--json", "--epochs", epochs)
    return json.loads(done.stdout.splitlines()[-1])


def alone(paths, kind, epochs):
    with Daemon(stream(paths, kind, ""), workers=1, metrics=True) as host:
        return read(host, epochs)


def served(cluster, paths, kind, epochs):
    with PreparationServer(cluster, stream(paths, kind, cluster.prepare([1])), memory="256MiB") as server, \
            Daemon(stream(paths, kind, cluster.prepare([server.port])), workers=1, metrics=True) as host:
        return read(host, epochs, server)


def arrays_in(folder):
    path = pathlib.Path(folder, "tokens.bin")
    with open(path, "wb") as out:
        for _ in range(ARRAYS):
            out.write(os.urandom(2 * LENGTH))
    return path


def wire(cluster, path, epochs):
    """Arrays that the server has in memory, so that sending is all it does."""
    def steps(prepare):
        return stream_yaml([f"read: {{url: '{path}', format: tokens, tokens: {{length: {LENGTH}}}, read_ahead: 32MiB}}",
                            f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{LENGTH}]}}}}", "cache: {memory: 300MB}",
                            f"prepare: {prepare}", "batch: {size: 32}", "publish: {slots: 4}"])

    with contextlib.ExitStack() as running:
        with on_core(0):
            server = running.enter_context(PreparationServer(cluster, steps(cluster.prepare([1])), memory="256MiB"))
        with on_core(1):
            host = running.enter_context(Daemon(steps(cluster.prepare([server.port])), workers=1))
            read_report(host, 2)  # fills the cache
            daemons = server.process.pid, host.process.pid
            before = [cpu_seconds(pid) for pid in daemons]
            report = read_report(host, epochs)
            cpu = [cpu_seconds(pid) - first for pid, first in zip(daemons, before, strict=True)]
    gigabytes = report["bytes"] / 1e9
    return Wire(1000 * gigabytes / report["seconds"], cpu[0] / gigabytes, cpu[1] / gigabytes)


def grpc_alone(folder, epochs):
    """`folder` has the certificates; nothing is encrypted without it."""
    size = 10 * 2 * LENGTH  # as the answers of a server
    more = [folder] if folder else []
    port = free_port()
    with on_core(0):
        server = subprocess.Popen([binary("WIRE_BENCH"), "server", str(port), str(size), *more], stdout=subprocess.PIPE)
    with server:
        try:
            server.stdout.readline()
            before = cpu_seconds(server.pid)
            with on_core(1):
                done = run_program("WIRE_BENCH", "client", port, epochs * ARRAYS // 10, *more)
            used = cpu_seconds(server.pid) - before
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        finally:
            server.kill()
    report = json.loads(done.stdout)
    # The server also sent what the client received before it began to count.
    gigabytes = report["bytes"] / 1e9
    return Wire(1000 * gigabytes / report["seconds"], used / (gigabytes + 32 * size / 1e9),
                report["cpu_seconds"] / gigabytes)


def rate_of_servers(cluster, paths, kind, epochs, count):
    """Photos for each second, prepared by so many servers with a core each."""
    if len(os.sched_getaffinity(0)) < count:
        raise Unavailable(f"there are fewer than {count} cores")
    with contextlib.ExitStack() as running:
        servers = []
        for core in range(count):
            with on_core(core):
                text = stream(paths, kind, cluster.prepare([1]))
                servers.append(running.enter_context(PreparationServer(cluster, text, memory="256MiB")))
        # Few requests at a time: then a server that has nothing to do helps the other one.
        step = cluster.prepare([server.port for server in servers], more=", concurrency: 2")
        host = running.enter_context(Daemon(stream(paths, kind, step), workers=1))
        host.read("--epochs", 1)
        report = read_report(host, epochs)
        return report["fresh"] / report["seconds"]


def measure(options):
    epochs = 1 if options.quick else 4
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(pathlib.Path(folder), "")
        paths = {False: photos.shards(folder), True: decode_large.large_photos(folder, LARGE)}
        many = pathlib.Path(folder, "many")
        many.mkdir()
        many_paths = decode_large.large_photos(many, MANY_LARGE)
        ways = {(kind.title, place): functools.partial(way, paths[kind.large], kind, epochs)
                for kind in KINDS for place, way in (("one host", alone), ("server", functools.partial(served, cluster)))}
        path = arrays_in(folder)
        ways |= {"Echoline": functools.partial(wire, cluster, path, 2 * epochs),
                 "gRPC alone, TLS": functools.partial(grpc_alone, folder, 2 * epochs),
                 "gRPC alone, no TLS": functools.partial(grpc_alone, "", 2 * epochs)}
        ways |= {count: functools.partial(rate_of_servers, cluster, many_paths, KINDS[2], 2 * epochs, count)
                 for count in (1, 2)}
        found = interleave(ways, options.rounds)
    return [*(table(found, kind) for kind in KINDS), *wire_tables(found)]


def table(found, kind):
    one, both = (found.results.get((kind.title, place), []) for place in ("one host", "server"))
    reason = "; ".join(found.reasons.values())
    rows = [Row("one host", [cpu.host for cpu in one], reason),
            Row("with a server: the host", [cpu.host for cpu in both], reason),
            Row("with a server: the server", [cpu.server for cpu in both], reason),
            Row("with a server: both", [cpu.host + cpu.server for cpu in both], reason)]
    kilobytes = f"{both[0].sent / 1000:.0f} KB are sent for each." if both else ""
    return Table(f"CPU time of a photo, {kind.title}", "us", rows, ("one host",), False, kilobytes)


def wire_tables(found):
    names = ("Echoline", "gRPC alone, TLS", "gRPC alone, no TLS")
    rates = [found.row(name, lambda wire: wire.rate) for name in names]
    costs = [found.row(name, pick, f"{name}: {side}") for name in names
             for side, pick in (("the server", lambda wire: wire.server), ("the host", lambda wire: wire.host))]
    servers = [found.row(count, label=f"{count} server{'s' * (count > 1)}") for count in (1, 2)]
    return [Table("One connection, a core on each side", "MB/s", rates, ("Echoline",)),
            Table("CPU time of one connection", "CPU-s per GB", costs, more_is_better=False),
            Table("Photos of 12 megapixels from servers with a core each", "photos/s", servers, ("2 servers",))]
