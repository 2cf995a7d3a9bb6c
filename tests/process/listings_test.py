#!/usr/bin/env python3
"""Listings of class folders. Of local files each host keeps its own listing between starts. In a store `index --publish`
writes the listing, and hosts use it until the next one. S3 checks signatures, Google Cloud Storage checks tokens."""
import json
import tempfile
import time

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import run_echoline, run_index
from support.store_process import GcsStore, S3Store

FIRST = {f"{name}/{number:02d}.bin": f"{name} {number}" for name in ("ant", "bee") for number in range(3)}
# The daemon keeps no listing of a younger folder: it could change again within one tick of the file system's clock.
SETTLED_SECONDS = 2.1


def stream_of(root, more=""):
    return stream_yaml([f"read: {{url: '{root}'{more}}}",
                        "decode: {x: {key: bin, as: bytes}, label: {key: cls, as: int64}}", "batch: {size: 1}"])


class Host:
    """A host without any listing of its own, over class folders at `root` in a store."""

    def __init__(self, store, root):
        self.store, self.root, self.environment = store, root, dict(store.environment)

    def index(self, *more, **environment):
        return run_index(self.root, "--format", "folder", "--endpoint", self.store.endpoint, *more,
                         environment={**self.environment, **environment})

    def stream(self):
        return stream_of(self.root, f", endpoint: '{self.store.endpoint}'")

    def keys(self):
        """The keys that a trainer gets, in the order of the listing."""
        with Daemon(self.stream(), environment=self.environment) as daemon:
            batches = daemon.read("--epochs", 1, "--keys")
        return [batch["keys"][0] for batch in batches if "keys" in batch]

    def check(self):
        """A finished `echoline check`."""
        with tempfile.TemporaryDirectory() as folder:
            config = f"{folder}/stream.yaml"
            with open(config, "w", encoding="utf-8") as out:
                out.write(f"daemon: {{memory: 512MiB, state_dir: {folder}/state}}\nstreams:\n{self.stream()}")
            return run_echoline("check", config, "--json", environment=self.environment)


class KeptListings(ProcessCase):
    def test_a_restart_recovers_from_a_file_that_changed_in_place(self):
        root = self.folder()
        for name, text in FIRST.items():
            path = root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        time.sleep(SETTLED_SECONDS)
        with Daemon(stream_of(f"{root}/")) as daemon:
            daemon.stop()
            (kept,) = (daemon.state_dir / "indexes").iterdir()
            for name in FIRST:
                (root / name).write_text("overwritten", encoding="utf-8")
            status, log = daemon.run_to_its_end()
            self.assertNotEqual(status, 0)
            self.assertIn("it changed since it was indexed", log)
            self.assertFalse(kept.exists())
            self.assertEqual(len(daemon.start().read("--epochs", 1)), len(FIRST))
            self.assertTrue(kept.exists())


class PublishedListings(ProcessCase):
    def filled(self, store, root):
        """A host over the store with the first files."""
        self.resource(store)
        for name, text in FIRST.items():
            store.put(f"set/{name}", text.encode())
        return Host(store, root)

    def s3(self):
        return self.filled(S3Store(self.folder(), []), "s3://photos/set/")

    def gcs(self):
        return self.filled(GcsStore(), "gs://photos/set/")

    def publish(self, host, records):
        done = host.index("--publish")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["published"], report["records"]), (1, records))

    def check_life(self, host):
        self.publish(host, len(FIRST))
        self.assertEqual(host.keys(), sorted(FIRST))
        host.store.put("set/cat/00.bin", b"cat 0")
        self.assertEqual(host.keys(), sorted(FIRST), "a later file must appear only after the next --publish")
        self.assertEqual(json.loads(host.check().stdout)["streams"]["train"]["records"], len(FIRST))
        self.publish(host, len(FIRST) + 1)
        self.assertEqual(host.keys(), sorted([*FIRST, "cat/00.bin"]))

    def test_a_listing_in_s3_is_used_until_the_next_one(self):
        host = self.s3()
        reader = host.store.reader_environment
        refused = host.index("--publish", **reader)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("set/.echoline-index", refused.stderr)
        self.check_life(host)
        host.environment.update(reader)
        self.assertEqual(len(host.keys()), len(FIRST) + 1, "hosts that may only read must use it too")

    def test_a_listing_in_google_cloud_storage_is_used_until_the_next_one(self):
        host = self.gcs()
        self.check_life(host)
        host.store.put("copy/.echoline-index", host.store.get("set/.echoline-index"))
        host.store.put("copy/dog/00.bin", b"dog 0")
        host.root = "gs://photos/copy/"
        done = host.index()
        self.assertIn("it was made for another place; listing the folder instead", done.stderr)
        self.assertEqual(json.loads(done.stdout)["records"], 1)

    def test_objects_that_changed_since_are_an_error_that_says_what_to_do(self):
        host = self.s3()
        self.publish(host, len(FIRST))
        for name in FIRST:
            host.store.put(f"set/{name}", b"other")
        refused = host.check()
        self.assertEqual(refused.returncode, 1)
        for words in ("changed since it was indexed", "s3://photos/set/.echoline-index", "'echoline index --publish'"):
            self.assertIn(words, refused.stderr)
        self.publish(host, len(FIRST))
        self.assertEqual(host.check().returncode, 0)

    def test_a_damaged_listing_is_ignored(self):
        host = self.s3()
        host.store.put("set/.echoline-index", b"no index")
        done = host.index()
        self.assertEqual(json.loads(done.stdout)["records"], len(FIRST))
        self.assertIn("listing the folder instead", done.stderr)


if __name__ == "__main__":
    main()
