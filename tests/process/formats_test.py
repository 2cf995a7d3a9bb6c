#!/usr/bin/env python3
"""The same photos in every format give a trainer the same pixels and labels, through the whole daemon."""
import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import line_photos
from daemon_process import TESTS, Daemon, binary, run_index, stream_yaml, whole

sys.path.insert(0, str(TESTS / "record"))
import shard_writers

COUNT = 40


def decode(image, label):
    return (f"decode: {{image: {{key: '{image}', as: rgb}}, label: {{key: {label}, as: int64}}}}",
            "resize: {field: image, size: [32, 32]}", "batch: {size: 8}")


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.photos = [line_photos.photo(seed) for seed in range(COUNT)]
        files = []
        for number, (content, label) in enumerate(cls.photos):
            files += [(f"{number:04d}.jpg", content), (f"{number:04d}.cls", str(label).encode())]
        (cls.folder / "tars").mkdir()
        for shard in range(2):
            line_photos.write_tar(cls.folder / "tars" / f"{shard}.tar", files[shard * COUNT:(shard + 1) * COUNT])
        cls.expected = cls.rows(f"{cls.folder}/tars/*.tar", "auto", "jpg", "cls")

    @classmethod
    def rows(cls, url, form, image, label):
        """Checksums by sample id, and the order of the first epoch, as a trainer sees them."""
        steps = [f"read: {{url: '{url}', format: {form}}}", "shuffle: {window: 16}", *decode(image, label)]
        with Daemon(stream_yaml(steps)) as daemon:
            batches = whole(daemon.read("--epochs", 1, "--row-checksums"))
        return [row for batch in batches for row in batch["rows"]]

    def test_tfrecord(self):
        (self.folder / "tf").mkdir()
        for shard in range(2):
            shard_writers.write_tfrecord(
                self.folder / "tf" / f"photos-{shard}-of-2",
                [{"image/encoded": content, "image/class/label": label}
                 for content, label in self.photos[shard * COUNT // 2:(shard + 1) * COUNT // 2]])
        rows = self.rows(f"{self.folder}/tf/photos-*", "auto", "image/encoded", "image/class/label")
        self.assertEqual(rows, self.expected)

    def test_mds(self):
        shard_writers.write_mds(self.folder / "mds", {"image": "jpeg", "class": "int"},
                                [{"image": content, "class": struct.pack("<q", label)}
                                 for content, label in self.photos], COUNT // 2)
        self.assertEqual(self.rows(f"{self.folder}/mds/", "auto", "image", "class"), self.expected)

    def test_lists_of_files(self):
        (self.folder / "files").mkdir()
        lines = []
        for number, (content, label) in enumerate(self.photos):
            name = f"files/{number * 7 % COUNT}.jpg"
            (self.folder / name).write_bytes(content)
            lines.append((name, label))
        csv = "".join(f"{name},{label}\n" for name, label in lines)
        (self.folder / "list.csv").write_text(csv, encoding="utf-8")
        json_lines = "".join(json.dumps({"path": name, "label": label}) + "\n" for name, label in lines)
        (self.folder / "list.jsonl").write_text(json_lines, encoding="utf-8")
        for name in ("list.csv", "list.jsonl"):
            rows = self.rows(f"{self.folder}/{name}", "files", "jpg", "cls")
            # A file is a shard of its own: the order differs, the samples do not.
            self.assertEqual(sorted(rows), sorted(self.expected))

    def test_packed_tars(self):
        (self.folder / "packed").mkdir()
        for shard in range(2):
            plain = (self.folder / "tars" / f"{shard}.tar").read_bytes()
            (self.folder / "packed" / f"{shard}.tar.gz").write_bytes(gzip.compress(plain, 1))
        self.assertEqual(self.rows(f"{self.folder}/packed/*.tar.gz", "auto", "jpg", "cls"), self.expected)
        steps = [f"read: {{url: '{self.folder}/packed/*.tar.gz'}}", "shuffle: {window: all}", *decode("jpg", "cls")]
        status, log = Daemon(stream_yaml(steps)).run_to_its_end()
        self.assertNotEqual(status, 0)
        self.assertIn("the shards are compressed", log)

    def test_the_command_line_indexes_and_publishes_what_other_hosts_use(self):
        shard_writers.write_tfrecord(self.folder / "one.tfrecord", [{"x": b"1"}, {"x": b"2"}])
        with tempfile.TemporaryDirectory() as state:
            printed = subprocess.run([binary("ECHOLINE_CLI"), "index", str(self.folder / "one.tfrecord"), "--publish",
                                      "--json", "--state-dir", state], check=True, capture_output=True).stdout
        self.assertEqual({"records": 2, "format": "tfrecord", "published": 1},
                         {name: json.loads(printed)[name] for name in ("records", "format", "published")})
        self.assertTrue((self.folder / "one.tfrecord.echoline-index").exists())

    def test_every_record_gets_a_checksum_where_there_is_an_index_to_keep_it_in(self):
        shard_writers.write_tfrecord(self.folder / "two.tfrecord", [{"x": b"1"}, {"x": b"2"}])
        for arguments, checksums in ((), 0), (("--checksums",), 2):
            done = run_index(str(self.folder / "two.tfrecord"), *arguments)
            self.assertEqual(json.loads(done.stdout)["checksums"], checksums, done.stderr)
        (self.folder / "classes" / "cat").mkdir(parents=True)
        (self.folder / "classes" / "cat" / "1.jpg").write_bytes(self.photos[0][0])
        refused = run_index(f"{self.folder}/classes/", "--checksums")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("format folder has no index that checksums could be kept in", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
