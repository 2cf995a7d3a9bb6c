"""Tars of 100 MB from a real S3 server on this machine, by the daemon, by WebDataset's pipes from curl, and by SPDL with
boto3; the same records in MosaicML's and LitData's own formats by these. Each other loader has its fastest width, found
before the rounds. All count bytes of records. The daemon also copies each into a batch in shared memory and shuffles."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

from suite import peers
from suite.rounds import FAILURES, PATIENCE, Table, Unavailable, interleave, reason_of
from support.daemon_process import Daemon
from support.programs import free_port
from support.server_process import Server
from transfers import BUCKET, RECORD, echoline, put_tars, stream_of

PROGRAMS = ()
LOOPS = pathlib.Path(__file__).with_name("s3_loops.py")
# Name: (set, its package, loop, widths to try).
PEERS = {"WebDataset": ("webdataset", "webdataset", "webdataset", (1, 2, 4)), "SPDL": ("spdl", "spdl", "spdl", (2, 4, 8)),
         "MosaicML Streaming": ("mosaicml", "mosaicml-streaming", "mosaicml", (1, 2, 4)),
         "LitData": ("litdata", "litdata", "litdata", (1, 2, 4))}
WINDOW = 1000  # of the daemon's shuffle, in records


class Store:
    """An S3 server with the records, as tars and in what other loaders make of them."""

    def __init__(self, folder, tars, megabytes):
        self.folder = folder
        self.server = Server("s3_server.py", "--dir", folder / "s3", "--bucket", BUCKET)
        self.tars, self.records = put_tars(self.server, tars, megabytes), tars * megabytes * 1_000_000 // (RECORD + 1024)
        self.endpoint = self.server.facts["endpoint"]
        self.pids = [self.server.process.pid]  # of what serves it
        keys = {"AWS_ACCESS_KEY_ID": self.server.facts["access_key"], "AWS_SECRET_ACCESS_KEY": self.server.facts["secret_key"]}
        self.environment = os.environ | keys | {
            "AWS_ENDPOINT_URL": self.endpoint, "S3_ENDPOINT_URL": self.endpoint, "AWS_DEFAULT_REGION": "us-east-1"}

    @functools.cache
    def sources(self, python, loop):
        """What the loop reads: its arguments after the width. Some loaders pack the records first."""
        if loop == "spdl":
            return [self.endpoint, BUCKET, *self.tars.keys]
        made = self.output([python, "-B", LOOPS, "sources", loop, self.endpoint, BUCKET, self.folder / loop, self.records,
                            RECORD, *self.tars.keys])
        for file in made["upload"]:
            self.server.put(BUCKET, str(pathlib.Path(file).relative_to(self.folder)), pathlib.Path(file).read_bytes())
        return made["sources"]

    def output(self, command):
        done = subprocess.run(list(map(str, command)), capture_output=True, env=self.environment, check=True,
                              timeout=PATIENCE)
        return json.loads(done.stdout.splitlines()[-1])

    def run(self, python, loop, width):
        """(MB/s, CPU-seconds per GB) of one run of a loader."""
        done = self.output([python, "-B", LOOPS, loop, width, *self.sources(python, loop)])
        return done["bytes"] / done["seconds"] / 1e6, done["cpu_seconds"] / done["bytes"] * 1e9


def fastest(store, group, loop, widths):
    """A way for interleave(): a run with the width that is the fastest in one try, or the reason why there is none."""
    try:
        python = peers.python(group)
        rates = {width: store.run(python, loop, width)[0] for width in widths}
        width = max(rates, key=rates.get)
    except FAILURES as error:
        return functools.partial(fail, reason_of(error))
    return functools.partial(store.run, python, loop, width)


def fail(reason):
    raise Unavailable(reason)


class StreamOptions:
    window = WINDOW


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        store = Store(pathlib.Path(folder), *((1, 10) if options.quick else (5, 100)))
        try:
            ways = {f"{name} {peers.version(group, package)}": fastest(store, group, loop, widths)
                    for name, (group, package, loop, widths) in PEERS.items() if options.wants(name)}
            with Daemon(stream_of(store.endpoint, store.tars, StreamOptions, ""), memory="2GiB",
                        environment=store.environment, metrics=free_port()) as daemon:
                found = interleave({"Echoline": lambda: echoline(daemon, 4)} | ways, options.rounds)
        finally:
            store.server.stop()
    return [Table("Records from an S3 server", "MB/s", found.rows(lambda each: each[0]), references=("Echoline",)),
            Table("CPU time for records from an S3 server", "CPU-s per GB", found.rows(lambda each: each[1]),
                  references=("Echoline",), more_is_better=False)]
