"""Rates that `echoline analyze` predicts for another latency of the store (store.latency), compared with runs behind a proxy
with that latency: small objects in an S3 server, where few requests are allowed and late answers are the limit, and on a
line that is the limit itself."""
import contextlib
import itertools
import os
import pathlib
import tempfile
from typing import NamedTuple

import predictions_run
from suite.rounds import Row, Table, say
from support.daemon_process import Daemon, stream_yaml
from support.programs import wait_until
from support.server_process import Server
from transfers import BUCKET, Shaped, put_singles

PROGRAMS = ("ECHOLINE_LIBRARY", "ECHOLINE_CLI", "SHAPER")
ONE_ROUND = True
OBJECTS, OBJECT_BYTES = 600, 40_000
BATCH = 8
LATENCIES = (10, 30, 100)  # ms, of the proxy
TRAINER = 5000             # rows per second, more than any of the stores gives


class Store(NamedTuple):
    concurrency: int
    rate: int = 0  # bytes per second of all requests; 0: no limit


STORES = {"4 requests in flight": Store(4), "16 requests in flight": Store(16),
          "a line of 3 MB/s, 64 requests": Store(64, 3_000_000)}


def stream(endpoint, data, store):
    return stream_yaml([f"read: {{url: 's3://{BUCKET}/{data.url}', format: {data.form}, endpoint: '{endpoint}', "
                        f"concurrency: {store.concurrency}}}", "shuffle: {window: all}",
                        "decode: {data: {key: bin, as: bytes, max_bytes: 64KiB}}", f"batch: {{size: {BATCH}}}"])


def run(server, data, store, latency):
    """(the rate seen, {other latency: the rate predicted for it})"""
    limits = [f"all:{store.rate}"] if store.rate else []
    proxy = Shaped(os.environ["SHAPER"], server.facts["port"], latency, 0, limits)
    keys = {"AWS_ACCESS_KEY_ID": server.facts["access_key"], "AWS_SECRET_ACCESS_KEY": server.facts["secret_key"]}
    with contextlib.closing(proxy), Daemon(stream(proxy.endpoint, data, store), environment=keys) as daemon:
        trainer = predictions_run.Trainer(daemon, BATCH / TRAINER)
        try:
            wait_until(lambda: trainer.batches > OBJECTS / BATCH, "an epoch", period=0.05)
            seen = predictions_run.analysis(daemon, [])["measured"]
            own = seen["store_requests"]["answer_seconds"]
            others = [other for other in LATENCIES if other != latency]
            # The server's part of the latency stays.
            questions = [f"store.latency={1000 * own + other - latency:.3f}ms" for other in others]
            answers = predictions_run.analysis(daemon, questions)["what_if"]
        finally:
            trainer.stop()
    rate = seen["rows_per_second"]
    say(f"{store}, {latency} ms: {rate:.1f} rows/s, {seen['store_requests']}")
    return rate, {other: answer["rows_per_second"] for other, answer in zip(others, answers, strict=True)}


def measure(options):
    rows = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        server = Server("s3_server.py", "--dir", pathlib.Path(folder, "s3"), "--bucket", BUCKET)
        stack.callback(server.stop)
        data = put_singles(server, OBJECTS, OBJECT_BYTES)
        for name, store in STORES.items():
            found = {latency: run(server, data, store, latency) for latency in LATENCIES}
            for base, other in itertools.permutations(LATENCIES, 2):
                rows.append(Row(f"{name}: from {base} ms to {other} ms ({found[base][0]:.0f} to {found[other][0]:.0f} rows/s)",
                                [found[base][1][other] / found[other][0]]))
    return [Table("Rates predicted for another latency of the store", "predicted / seen", rows)]
