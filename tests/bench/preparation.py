"""Preparation servers: CPU time for each photo that the host decodes or receives, of the host and of the server, compared
with one host that does everything. The pipelines differ in what comes before `prepare`: whole pictures, or pictures that a
`resize` has made smaller. An echo with factor 2 follows, then a random crop.
"""
import functools
import pathlib
import tempfile
from typing import NamedTuple

from suite.rounds import Row, Table, cpu_seconds, interleave
from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.preparation import Cluster, PreparationServer

PROGRAMS = ()
RESIZE = "resize: {field: image, size: [256, 256]}"
CROP = "random_resized_crop: {field: image, size: 224}"
# What a pipeline sends: the steps before `prepare`, and after the echo.
SENT = {"whole photos": ([], [CROP]), "photos resized to 256": ([RESIZE], ["random_crop: {field: image, size: 224}"])}


class Cpu(NamedTuple):
    """Microseconds for each photo."""
    host: float
    server: float
    sent: float  # bytes


def stream(paths, sent, prepare):
    before, after = SENT[sent]
    urls = ", ".join(f"'{path}'" for path in paths)
    # A small read-ahead: at the end, few photos have been received and not used.
    return stream_yaml([f"read: {{url: [{urls}], format: webdataset, read_ahead: 16MiB}}", "shuffle: {window: 128}",
                        "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}", *before,
                        prepare and f"prepare: {prepare}", "echo: {factor: 2, window: 256}", *after,
                        "batch: {size: 32}", "publish: {slots: 4}"])


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


def alone(paths, sent, epochs):
    with Daemon(stream(paths, sent, ""), workers=1, metrics=True) as host:
        return read(host, epochs)


def served(cluster, paths, sent, epochs):
    with PreparationServer(cluster, stream(paths, sent, cluster.prepare([1])), memory="256MiB") as server, \
            Daemon(stream(paths, sent, cluster.prepare([server.port])), workers=1, metrics=True) as host:
        return read(host, epochs, server)


def measure(options):
    epochs = 1 if options.quick else 4
    with tempfile.TemporaryDirectory() as folder:
        paths = photos.shards(folder)
        cluster = Cluster(pathlib.Path(folder), "")
        ways = {(sent, place): functools.partial(way, paths, sent, epochs)
                for sent in SENT for place, way in (("one host", alone), ("server", functools.partial(served, cluster)))}
        found = interleave(ways, options.rounds)
    return [table(found, sent) for sent in SENT]


def table(found, sent):
    one, both = (found.results.get((sent, place), []) for place in ("one host", "server"))
    reason = "; ".join(found.reasons.values())
    rows = [Row("one host", [cpu.host for cpu in one], reason),
            Row("with a server: the host", [cpu.host for cpu in both], reason),
            Row("with a server: the server", [cpu.server for cpu in both], reason),
            Row("with a server: both", [cpu.host + cpu.server for cpu in both], reason)]
    kilobytes = f"{both[0].sent / 1000:.0f} KB are sent for each." if both else ""
    return Table(f"CPU time of a photo, {sent} are sent", "us", rows, ("one host",), False, kilobytes)
