#!/usr/bin/env python3
"""`echoline index --publish` writes the index next to the data, wherever a user can write. Hosts without an index use it:
they read no shard before training. S3 checks signatures, Google Cloud Storage checks tokens."""
import json
import pathlib

from support.batches import rows_of
from support.cached_daemon import CachedDaemon
from support.process_case import ProcessCase, main
from support.programs import run_index
from support.records import Records
from support.store_process import GcsStore, S3Store

# What a start reads in addition to index files: some records to learn the shapes, the ring and the read-ahead, together
# 2.3 MB of 20.
START_SHARE = 0.2


class Publishing(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.records = Records(cls.class_folder(), count=1000)
        with CachedDaemon(cls.records.stream()) as daemon:
            cls.expected = rows_of(daemon.read("--epochs", 1, "--row-checksums"))

    def start_share(self, address, endpoint, environment):
        """What a host without an index has read from the store until it is ready, as a share of the data."""
        more_read = f", endpoint: '{endpoint}'" if endpoint else ""
        stream = self.records.stream(more_read=more_read, address=address)
        with CachedDaemon(stream, environment=environment) as daemon:
            share = daemon.store_bytes() / self.records.bytes
            self.assertEqual(rows_of(daemon.read("--epochs", 1, "--row-checksums")), self.expected)
        return share

    def check_published(self, address, endpoint, environment):
        self.assertGreater(self.start_share(address, endpoint, environment), 0.9)
        done = run_index(address, "--endpoint", endpoint, "--publish", environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["published"], len(self.records.paths))
        self.assertLess(self.start_share(address, endpoint, environment), START_SHARE)

    def check_refused(self, done, *said):
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        for words in said:
            self.assertIn(words, done.stderr)

    def test_an_index_in_s3_is_published_and_used(self):
        store = self.resource(S3Store(self.folder(), self.records.paths))
        refused = run_index(store.url, "--endpoint", store.endpoint, "--publish", environment=store.reader_environment)
        self.check_refused(refused, "records-000.tar.echoline-index", "allow s3:PutObject")
        self.check_published(store.url, store.endpoint, store.environment)
        share = self.start_share(store.url, store.endpoint, store.reader_environment)
        self.assertLess(share, START_SHARE, "hosts that may only read use it too")

    def test_an_index_in_google_cloud_storage_is_published_and_used(self):
        store = self.resource(GcsStore())
        for path in self.records.paths:
            store.put(f"set/{path.name}", path.read_bytes())
        self.check_published("gs://photos/set/records-*.tar", store.endpoint, store.environment)

    def test_a_web_server_takes_no_index_but_one_that_is_there_is_used(self):
        server = self.server("web_server.py")
        root = pathlib.Path(server.facts["root"])
        for path in self.records.paths:
            (root / path.name).write_bytes(path.read_bytes())
        address = server.facts["endpoint"] + "/records-{000..003}.tar"
        self.check_refused(run_index(address, "--publish"), "nothing can be written to a web server")
        self.assertGreater(self.start_share(address, "", {}), 0.9)
        self.assertEqual(run_index(f"{root}/records-*.tar", "--publish").returncode, 0)
        self.assertLess(self.start_share(address, "", {}), START_SHARE)


if __name__ == "__main__":
    main()
