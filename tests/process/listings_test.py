#!/usr/bin/env python3
"""Listings of class folders. Of local files each host keeps its own between starts. In a store, `index --publish` writes
them: hosts take one for what is there until the next. S3 checks signatures, Google Cloud Storage tokens."""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from daemon_process import Daemon, Server, binary, run_index, stream_yaml

FIRST = {f"{name}/{number:02d}.bin": f"{name} {number}" for name in ("ant", "bee") for number in range(3)}


SETTLED_SECONDS = 2.1  # before, a folder might change again within one tick of its clock


def stream_of(root, more=""):
    return stream_yaml([f"read: {{url: '{root}'{more}}}",
                        "decode: {x: {key: bin, as: bytes}, label: {key: cls, as: int64}}", "batch: {size: 1}"])


class Store:
    """A bucket "photos" with class folders below `root`; `put` takes a name below it and bytes."""

    def __init__(self, root, put, endpoint, environment):
        self.root, self.put, self.endpoint, self.environment = root, put, endpoint, environment
        for name, text in FIRST.items():
            put(name, text.encode())

    def index(self, *more, **environment):
        return run_index(self.root, "--format", "folder", "--endpoint", self.endpoint, *more,
                         environment={**self.environment, **environment})

    def stream(self):
        return stream_of(self.root, f", endpoint: '{self.endpoint}'")

    def keys(self):
        """What a trainer on a host of its own gets, in the order of the listing."""
        with Daemon(self.stream(), environment=self.environment) as daemon:
            batches = daemon.read("--epochs", 1, "--keys")
        return [batch["keys"][0] for batch in batches if "keys" in batch]

    def check(self):
        """`echoline check` on a host of its own."""
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "stream.yaml")
            config.write_text(f"daemon: {{memory: 512MiB, state_dir: {folder}/state}}\nstreams:\n{self.stream()}",
                              encoding="utf-8")
            return subprocess.run([binary("ECHOLINE_CLI"), "check", str(config), "--json"], capture_output=True,
                                  text=True, env={**os.environ, **self.environment})


class KeptListings(unittest.TestCase):
    def test_a_restart_heals_what_a_file_changed_in_place_has_broken(self):
        with tempfile.TemporaryDirectory() as root:
            for name, text in FIRST.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            time.sleep(SETTLED_SECONDS)
            with Daemon(stream_of(root + "/")) as daemon:
                daemon.stop()
                (kept,) = (daemon.state_dir / "indexes").iterdir()
                for name in FIRST:
                    pathlib.Path(root, name).write_text("overwritten", encoding="utf-8")
                status, log = daemon.run_to_its_end()
                self.assertNotEqual(status, 0)
                self.assertIn("it changed since it was indexed", log)
                self.assertFalse(kept.exists())
                self.assertEqual(len(daemon.start().read("--epochs", 1)), len(FIRST))
                self.assertTrue(kept.exists())


class PublishedListings(unittest.TestCase):
    def s3(self, *more):
        server = Server("s3_server.py", "--bucket", "photos", *more)
        self.addCleanup(server.stop)
        self.reader = {"AWS_ACCESS_KEY_ID": server.facts["reader_key"]}
        return Store("s3://photos/set/", lambda name, content: server.put("photos", f"set/{name}", content),
                     server.facts["endpoint"], {"AWS_ACCESS_KEY_ID": server.facts["access_key"],
                                                "AWS_SECRET_ACCESS_KEY": server.facts["secret_key"]})

    def gcs(self):
        server, tokens = Server("gcs_server.py", "--tokens"), Server("credential_server.py")
        self.addCleanup(server.stop)
        self.addCleanup(tokens.stop)
        self.direct = f"{server.facts['direct']}/storage/v1/b/photos/o"
        return Store("gs://photos/set/", lambda name, content: self.put_direct(f"set/{name}", content),
                     server.facts["endpoint"], {"GOOGLE_APPLICATION_CREDENTIALS": tokens.facts["key_file"]})

    def put_direct(self, name, content):
        query = urllib.parse.urlencode({"uploadType": "media", "name": name})
        urllib.request.urlopen(urllib.request.Request(
            f"{self.direct.replace('/storage', '/upload/storage', 1)}?{query}", content,
            {"Content-Type": "application/octet-stream"})).close()

    def publish(self, store, records):
        done = store.index("--publish")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["published"], told["records"]), (1, records))

    def check_life(self, store):
        self.publish(store, len(FIRST))
        self.assertEqual(store.keys(), sorted(FIRST))
        store.put("cat/00.bin", b"cat 0")
        self.assertEqual(store.keys(), sorted(FIRST), "what came later is seen after the next --publish")
        self.assertEqual(json.loads(store.check().stdout)["streams"]["train"]["records"], len(FIRST))
        self.publish(store, len(FIRST) + 1)
        self.assertEqual(store.keys(), sorted([*FIRST, "cat/00.bin"]))

    def test_s3(self):
        store = self.s3()
        refused = store.index("--publish", **self.reader)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("set/.echoline-index", refused.stderr)
        self.check_life(store)
        store.environment.update(self.reader)
        self.assertEqual(len(store.keys()), len(FIRST) + 1, "hosts that may only read use it as well")

    def test_google_cloud_storage(self):
        store = self.gcs()
        self.check_life(store)
        with urllib.request.urlopen(f"{self.direct}/set%2F.echoline-index?alt=media") as published:
            self.put_direct("copy/.echoline-index", published.read())
        self.put_direct("copy/dog/00.bin", b"dog 0")
        store.root = "gs://photos/copy/"
        told = store.index()
        self.assertIn("it was made for another place; listing the folder instead", told.stderr)
        self.assertEqual(json.loads(told.stdout)["records"], 1)

    def test_objects_that_changed_since_are_an_error_that_says_what_to_do(self):
        store = self.s3()
        self.publish(store, len(FIRST))
        for name in FIRST:
            store.put(name, b"other")
        refused = store.check()
        self.assertEqual(refused.returncode, 1)
        for words in ("changed since it was indexed", "s3://photos/set/.echoline-index", "'echoline index --publish'"):
            self.assertIn(words, refused.stderr)
        self.publish(store, len(FIRST))
        self.assertEqual(store.check().returncode, 0)

    def test_one_that_is_damaged_is_passed_over(self):
        store = self.s3()
        store.put(".echoline-index", b"no index")
        told = store.index()
        self.assertEqual(json.loads(told.stdout)["records"], len(FIRST))
        self.assertIn("listing the folder instead", told.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
