#!/usr/bin/env python3
"""`echoline index --publish` puts the index next to the data, wherever a user can write, and hosts that have none of
their own use it: they read no shard before training. S3 checks signatures, Google Cloud Storage tokens."""
import json
import pathlib
import tempfile
import unittest
import urllib.parse
import urllib.request

from cache_run import CachedDaemon, Records, S3Records, rows_of
from daemon_process import Server, run_index

# What a start reads beside index files: a first look at the records, the ring and the read-ahead, 2.3 MB of 20 in all.
START_SHARE = 0.2


class Publishing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.records = Records(cls.folder, count=1000)
        with CachedDaemon(cls.records.stream("")) as daemon:
            cls.expected = rows_of(daemon.read("--epochs", 1, "--row-checksums"))

    def start_share(self, address, endpoint, environment):
        """What a host without an index has read from the store when it is ready, as a share of the data."""
        more_read = f", endpoint: '{endpoint}'" if endpoint else ""
        stream = self.records.stream("", more_read=more_read, address=address)
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

    def test_s3(self):
        store = S3Records(self.records)
        self.addCleanup(store.server.stop)
        refused = run_index(store.address, "--endpoint", store.endpoint, "--publish", environment=store.reader)
        self.check_refused(refused, "records-000.tar.echoline-index", "allow s3:PutObject")
        self.check_published(store.address, store.endpoint, store.writer)
        # Hosts that may only read use it as well.
        self.assertLess(self.start_share(store.address, store.endpoint, store.reader), START_SHARE)

    def test_google_cloud_storage(self):
        server, tokens = Server("gcs_server.py", "--tokens"), Server("credential_server.py")
        self.addCleanup(server.stop)
        self.addCleanup(tokens.stop)
        for path in self.records.paths:
            query = urllib.parse.urlencode({"uploadType": "media", "name": f"set/{path.name}"})
            urllib.request.urlopen(urllib.request.Request(
                f"{server.facts['direct']}/upload/storage/v1/b/photos/o?{query}", path.read_bytes(),
                {"Content-Type": "application/octet-stream"})).close()
        self.check_published("gs://photos/set/records-*.tar", server.facts["endpoint"],
                             {"GOOGLE_APPLICATION_CREDENTIALS": tokens.facts["key_file"]})

    def test_web_servers_are_not_written_to_but_what_lies_there_is_used(self):
        server = Server("web_server.py")
        self.addCleanup(server.stop)
        root = pathlib.Path(server.facts["root"])
        for path in self.records.paths:
            (root / path.name).write_bytes(path.read_bytes())
        address = server.facts["endpoint"] + "/records-{000..003}.tar"
        self.check_refused(run_index(address, "--publish"), "nothing can be written to a web server")
        self.assertGreater(self.start_share(address, "", {}), 0.9)
        self.assertEqual(run_index(f"{root}/records-*.tar", "--publish").returncode, 0)
        self.assertLess(self.start_share(address, "", {}), START_SHARE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
