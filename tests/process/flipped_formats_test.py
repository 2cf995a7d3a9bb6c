#!/usr/bin/env python3
"""Every format behind a proxy that changes a byte in some answers, from the daemon's start on: listings, first bytes,
indexes that are made, and records. No row differs from the original. ECHOLINE_FLIPPED_RUNS sets the number of runs (1),
ECHOLINE_FLIPPED_SHARE the share of the answers (0.02), ECHOLINE_FLIPPED_SETS the names of data sets (";" between)."""
import contextlib
import os
import pathlib
import re
import shutil
import unittest

from support.batches import rows_of
from support.daemon_process import Daemon, stream_yaml
from support.flipped_sets import SETS, write_sets
from support.process_case import ProcessCase, main
from support.server_process import Server
from support.store_process import S3Store

RUNS = int(os.environ.get("ECHOLINE_FLIPPED_RUNS", 1))
SHARE = float(os.environ.get("ECHOLINE_FLIPPED_SHARE", 0.02))
NAMES = os.environ.get("ECHOLINE_FLIPPED_SETS", ";".join(SETS)).split(";")
SEED = int(os.environ.get("ECHOLINE_FLIPPED_SEED", 1))


class FlippedFormats(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.data = cls.class_folder()
        write_sets(cls.data)
        keys = {path: path.relative_to(cls.data) for path in cls.data.rglob("*") if path.is_file()}
        cls.store = cls.class_resource(S3Store(cls.class_folder(), keys, keys))

    @classmethod
    def web(cls):
        """A web server with the same files."""
        server = Server("web_server.py")
        shutil.copytree(cls.data, pathlib.Path(server.facts["root"]), dirs_exist_ok=True)
        return server

    @contextlib.contextmanager
    def proxy(self, endpoint, share, seed):
        server = Server("fault_proxy.py", "--server", endpoint.removeprefix("http://"), "--fault", f"flip={share}",
                        "--seed", seed, "--listings")
        try:
            yield server.facts["endpoint"]
        finally:
            server.stop()

    def read(self, data_set, endpoint):
        """(rows of two epochs, metrics of checks) of a new daemon."""
        if data_set.web:
            root, keys = f"{endpoint}/", f"url: '{endpoint}/{data_set.address}'"
        else:
            root = "s3://photos/"
            keys = self.store.read_keys(root + data_set.address, endpoint)
        more = data_set.more.replace("{root}", root)
        # Small requests: many answers.
        steps = [f"read: {{{keys}, format: {data_set.form}, read_ahead: 1MiB{more}}}",
                 f"shuffle: {{window: {data_set.window}}}", data_set.decode, "batch: {size: 16, last: partial}",
                 "publish: {slots: 4}"]
        with Daemon(stream_yaml(steps, more="    bad_records: {limit: 100%}\n"), metrics=True,
                    environment=self.store.environment) as daemon:
            rows = rows_of(daemon.read("--epochs", 2, "--row-checksums"))
            return rows, self.counts(daemon)

    @staticmethod
    def counts(daemon):
        """The checks of the daemon that found something: {metric, outcome or reason: count}."""
        counts = {}
        for name in ("records_checked", "source_damaged", "records_bad", "source_checked"):
            for labels, value in daemon.metric_lines(f"echoline_{name}_total").items():
                word = re.search('(?:outcome|reason)="(.*?)"', labels)
                if value:
                    counts[f"{name} {word.group(1)}" if word else name] = int(value)
        return counts

    def test_no_row_differs(self):
        self.damaged = 0
        for name in NAMES:
            with self.subTest(name):
                self.check(SETS[name])
        self.assertGreater(self.damaged, 0, "the proxy changed nothing that anybody noticed")

    def check(self, data_set):
        try:
            endpoint = self.resource(self.web()).facts["endpoint"] if data_set.web else self.store.endpoint
        except unittest.SkipTest as reason:
            print(f"left out: {reason}")
            return
        expected, counts = self.read(data_set, endpoint)
        self.assertGreater(len(expected), 0)
        self.assertNotIn("source_damaged", counts, "without the proxy")
        wrong, failed = 0, []
        for run in range(RUNS):
            with self.proxy(endpoint, SHARE, SEED + run) as spoiled:
                try:
                    rows, counts = self.read(data_set, spoiled)
                except RuntimeError as error:
                    failed.append(str(error).strip()[-400:])
                    continue
            wrong += sum(one != other for one, other in zip(rows, expected)) + abs(len(rows) - len(expected))
            self.damaged += counts.get("source_damaged", 0)
        print(f"  {data_set.address}: {RUNS} runs of {len(expected)} rows: {wrong} wrong, {len(failed)} failed; {counts}",
              flush=True)
        for text in failed[:3]:
            print(f"    {text}", flush=True)
        self.assertEqual((wrong, failed), (0, []))


if __name__ == "__main__":
    main()
