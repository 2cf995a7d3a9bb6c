#!/usr/bin/env python3
"""Every format behind proxies that change a byte in some answers, from the daemon's start on: listings, first bytes, indexes
that are made, first readings and later ones. No row differs from those of the store itself.

Prints what was compared. ECHOLINE_FLIPPED_RUNS sets the number of runs (1), ECHOLINE_FLIPPED_SHARE the share of the answers
(0.02), ECHOLINE_FLIPPED_SEED the seed of the first run (1), ECHOLINE_FLIPPED_SETS the names of data sets (";" between). Each
run is one daemon with a stream for each data set."""
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import unittest

from support.batches import rows_of
from support.daemon_process import Daemon, stream_yaml
from support.flipped_sets import SETS, can_write, write_sets
from support.process_case import ProcessCase, main
from support.server_process import Server
from support.store_process import S3Store

RUNS = int(os.environ.get("ECHOLINE_FLIPPED_RUNS", 1))
SHARE = float(os.environ.get("ECHOLINE_FLIPPED_SHARE", 0.02))
NAMES = os.environ.get("ECHOLINE_FLIPPED_SETS", ";".join(SETS)).split(";")
SEED = int(os.environ.get("ECHOLINE_FLIPPED_SEED", 1))
READERS_AT_ONCE = 4


class Proxy:
    """Between the daemon and a store, until stop(); counts what it does."""

    def __init__(self, endpoint, seed):
        self.server = Server("fault_proxy.py", "--server", endpoint.removeprefix("http://"), "--fault", f"flip={SHARE}",
                             "--seed", seed, "--listings")
        self.endpoint = self.server.facts["endpoint"]

    def counts(self):
        os.kill(self.server.facts["pid"], signal.SIGUSR1)
        return json.loads(self.server.process.stdout.readline())

    def stop(self):
        self.server.stop()


class FlippedFormats(ProcessCase):
    @classmethod
    def setUpClass(cls):
        data = cls.class_folder()
        write_sets(data)
        keys = {path: path.relative_to(data) for path in data.rglob("*") if path.is_file()}
        cls.store = cls.class_resource(S3Store(cls.class_folder(), keys, keys))
        cls.sets = {f"s{place:02d}": SETS[name] for place, name in enumerate(NAMES) if can_write(SETS[name])}
        cls.endpoints = {False: cls.store.endpoint}  # by FlippedSet.web
        try:
            web = cls.class_resource(Server("web_server.py"))
            shutil.copytree(data, pathlib.Path(web.facts["root"]), dirs_exist_ok=True)
            cls.endpoints[True] = web.facts["endpoint"]
        except unittest.SkipTest as reason:
            print(f"left out: {reason}")
            cls.sets = {name: each for name, each in cls.sets.items() if not each.web}

    def stream(self, name, endpoints):
        data_set = self.sets[name]
        endpoint = endpoints[data_set.web]
        if data_set.web:
            root, keys = f"{endpoint}/", f"url: '{endpoint}/{data_set.address}'"
        else:
            root = "s3://photos/"
            keys = self.store.read_keys(root + data_set.address, endpoint)
        more = data_set.more.replace("{root}", root)
        # Small requests: many answers.
        steps = [f"read: {{{keys}, format: {data_set.form}, read_ahead: 1MiB, concurrency: 16{more}}}",
                 f"shuffle: {{window: {data_set.window}}}", data_set.decode, "batch: {size: 16, last: partial}",
                 "publish: {slots: 4}"]
        return stream_yaml(steps, name, more="    bad_records: {limit: 100%}\n")

    def read(self, endpoints):
        """The rows of two epochs of each stream of a new daemon, or the error of its reader; and counts of its metrics."""
        streams = "".join(self.stream(name, endpoints) for name in self.sets)
        with Daemon(streams, metrics=True, memory="2GiB", environment=self.store.environment) as daemon:
            def rows(name):
                try:
                    return rows_of(daemon.read("--epochs", 2, "--row-checksums", stream=name))
                except RuntimeError as error:
                    return f"{self.sets[name].address}: {str(error).strip()[-400:]}"
            with concurrent.futures.ThreadPoolExecutor(READERS_AT_ONCE) as pool:
                found = dict(zip(self.sets, pool.map(rows, self.sets), strict=True))
            return found, collections.Counter({name: int(daemon.total(f"echoline_{name}_total"))
                                               for name in ("source_damaged", "records_bad")})

    @contextlib.contextmanager
    def spoiled(self, seed, counts):
        """The endpoints of proxies, whose counts are added."""
        with contextlib.ExitStack() as stack:
            proxies = {}
            for web, endpoint in self.endpoints.items():
                proxies[web] = Proxy(endpoint, 2 * seed + web)
                stack.callback(proxies[web].stop)
            yield {web: proxy.endpoint for web, proxy in proxies.items()}
            for proxy in proxies.values():
                told = proxy.counts()
                counts.update(answers=told["answers"], flipped=told["spoiled"].get("flip", 0))

    def check_run(self, seed, expected, counts):
        """The data sets and errors of what failed, and those with wrong rows."""
        try:
            with self.spoiled(seed, counts) as endpoints:
                found, seen = self.read(endpoints)
        except RuntimeError as error:  # of the start
            return [f"seed {seed}: {str(error).strip()[-800:]}"]
        counts.update(seen, runs=1)
        failed = [f"seed {seed}: {rows}" for rows in found.values() if isinstance(rows, str)]
        for name, rows in found.items():
            if isinstance(rows, str):
                continue
            wrong = sum(one != other for one, other in zip(rows, expected[name])) + abs(len(rows) - len(expected[name]))
            counts.update(rows=len(rows), wrong=wrong)
            if wrong:
                failed.append(f"seed {seed}: {self.sets[name].address}: {wrong} wrong rows")
        return failed

    def test_no_row_differs(self):
        expected, counts = self.read(self.endpoints)
        for name, rows in expected.items():
            self.assertIsInstance(rows, list)
            self.assertGreater(len(rows), 0, self.sets[name].address)
        self.assertEqual(counts, {"source_damaged": 0, "records_bad": 0}, "without the proxies")
        counts, failed = collections.Counter(), []
        for run in range(RUNS):
            news = self.check_run(SEED + run, expected, counts)
            print(*(f"    {text}\n" for text in news), end="", flush=True)
            failed += news
            if (run + 1) % 10 == 0 or run + 1 == RUNS:
                print(f"  {counts['runs']} runs of {len(self.sets)} data sets: {counts['answers']} answers, "
                      f"{counts['flipped']} of them changed, {counts['source_damaged']} found; {counts['rows']} rows "
                      f"compared, {counts['wrong']} wrong, {counts['records_bad']} bad; {len(failed)} failures", flush=True)
        self.assertEqual((counts["wrong"], counts["records_bad"], failed), (0, 0, []))
        self.assertGreater(counts["source_damaged"], 0, "the proxies changed nothing that anybody noticed")


if __name__ == "__main__":
    main()
