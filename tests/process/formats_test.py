#!/usr/bin/env python3
"""The same photos in every format give a trainer the same pixels and labels, through the whole daemon."""
import gzip
import hashlib
import json
import struct
import unittest

from support import parquet_files, photos
from support.batches import whole
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import run_index
from support.store_process import HubStore
from support.tars import write_tar

try:
    import echoline
except (ImportError, OSError):
    echoline = None  # not in sanitizer builds

import shard_writers  # of tests/record

COUNT = 40


def decode(image, label):
    return (f"decode: {{image: {{key: '{image}', as: rgb}}, label: {{key: {label}, as: int64}}}}",
            "resize: {field: image, size: [32, 32]}", "batch: {size: 8}")


class Formats(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.data = cls.class_folder()
        cls.photos = [photos.photo(seed) for seed in range(COUNT)]
        files = []
        for number, (content, label) in enumerate(cls.photos):
            files += [(f"{number:04d}.jpg", content), (f"{number:04d}.cls", str(label).encode())]
        (cls.data / "tars").mkdir()
        for shard in range(2):
            write_tar(cls.data / "tars" / f"{shard}.tar", files[shard * COUNT:(shard + 1) * COUNT])
        cls.expected = cls.rows(f"{cls.data}/tars/*.tar", "auto", "jpg", "cls")

    @classmethod
    def rows(cls, url, form, image, label, environment=None):
        """The rows of the first epoch in order, with checksums, as a trainer gets them."""
        steps = [f"read: {{url: '{url}', format: {form}}}", "shuffle: {window: 16}", *decode(image, label)]
        with Daemon(stream_yaml(steps), environment=environment) as daemon:
            batches = whole(daemon.read("--epochs", 1, "--row-checksums"))
        return [row for batch in batches for row in batch["rows"]]

    def test_tfrecord_files_give_the_same_rows(self):
        (self.data / "tf").mkdir()
        for shard in range(2):
            shard_writers.write_tfrecord(
                self.data / "tf" / f"photos-{shard}-of-2",
                [{"image/encoded": content, "image/class/label": label}
                 for content, label in self.photos[shard * COUNT // 2:(shard + 1) * COUNT // 2]])
        rows = self.rows(f"{self.data}/tf/photos-*", "auto", "image/encoded", "image/class/label")
        self.assertEqual(rows, self.expected)

    def test_mds_shards_give_the_same_rows(self):
        shard_writers.write_mds(self.data / "mds", {"image": "jpeg", "class": "int"},
                                [{"image": content, "class": struct.pack("<q", label)}
                                 for content, label in self.photos], COUNT // 2)
        self.assertEqual(self.rows(f"{self.data}/mds/", "auto", "image", "class"), self.expected)

    @unittest.skipUnless(echoline, "needs the Python package")
    def test_keys_and_addresses_are_fields_and_a_split_gives_disjoint_parts(self):
        def keys(split):
            steps = [f"read: {{url: '{self.data}/tars/*.tar', split: {split}}}",
                     "decode: {key: {key: __key__, as: text}, url: {key: __url__, as: text}}",
                     "batch: {size: 4, last: partial}"]
            found = []
            with Daemon(stream_yaml(steps)) as daemon:
                with echoline.Loader("train", runtime_dir=daemon.runtime_dir) as loader:
                    for batch in loader:
                        for key, url in zip(batch["key"], batch["url"], strict=True):
                            number = int(bytes(key))
                            self.assertEqual(f"{self.data}/tars/{number // (COUNT // 2)}.tar", bytes(url).decode())
                            found.append(number)
            return found
        training, validation = keys("{to: 75%}"), keys("{from: 75%}")
        self.assertEqual(sorted(training + validation), list(range(COUNT)))
        self.assertGreater(len(training), len(validation))

    @unittest.skipUnless(parquet_files.python(), "needs pyarrow")
    def test_parquet_files_give_the_same_rows_and_all_orders(self):
        (self.data / "parquet").mkdir()
        for shard in range(2):
            parquet_files.write(self.data / "parquet" / f"{shard}.parquet",
                                self.photos[shard * COUNT // 2:(shard + 1) * COUNT // 2])
        self.assertEqual(self.rows(f"{self.data}/parquet/", "parquet", "image", "label"), self.expected)
        steps = [f"read: {{url: '{self.data}/parquet/*', parquet: {{columns: [image, label]}}}}",
                 "shuffle: {window: all}", *decode("image", "label")]
        with Daemon(stream_yaml(steps)) as daemon:
            rows = [row for batch in whole(daemon.read("--epochs", 1, "--row-checksums")) for row in batch["rows"]]
        self.assertEqual(sorted(rows), sorted(self.expected))

    def test_tars_on_the_hub_give_the_same_rows(self):
        store = self.resource(HubStore())
        for path in sorted((self.data / "tars").iterdir()):
            store.put(f"tars/{path.name}", path.read_bytes())
        for pattern in ("*.tar", "{0,1}.tar"):
            rows = self.rows(f"{store.repository}/tars/{pattern}", "auto", "jpg", "cls", store.environment)
            self.assertEqual(rows, self.expected)
        self.assertEqual(store.counts().get("leaks", 0), 0, "the token is for the Hub only")

    def test_a_state_of_a_branch_continues_with_its_commit_and_not_after_a_new_one(self):
        store = self.resource(HubStore())
        for path in sorted((self.data / "tars").iterdir()):
            commit = store.put(f"tars/{path.name}", path.read_bytes())
        state = self.folder() / "state.json"

        def daemon(revision):
            steps = [f"read: {{url: '{store.repository}{revision}/tars/*.tar'}}", *decode("jpg", "cls")]
            return Daemon(stream_yaml(steps), environment=store.environment)
        with daemon("@main") as first:
            self.assertIn(f"revision main is commit {commit}", first.log())
            begin = whole(first.read("--batches", 2, "--row-checksums", "--save-state", state))
            store.put("README.md", b"words")
            store.expire()
            rest = whole(first.read("--epochs", 1, "--row-checksums", "--state", state))
        self.assertEqual([row[0] for batch in begin + rest for row in batch["rows"]], list(range(COUNT)))
        with daemon("@main") as moved:
            with self.assertRaisesRegex(RuntimeError, "the state is of another data set"):
                moved.read("--state", state)
        with daemon(f"@{commit}") as pinned:
            self.check_equal_batches(whole(pinned.read("--epochs", 1, "--row-checksums", "--state", state)), rest)

    @unittest.skipUnless(echoline and parquet_files.python(), "needs the Python package and pyarrow")
    def test_parquet_files_on_the_hub_have_the_values_that_pyarrow_reads_there(self):
        store = self.resource(HubStore())
        for shard in range(3):
            path = self.folder() / "shard.parquet"
            parquet_files.write(path, self.photos[shard * 10:(shard + 1) * 10])
            store.put(f"data/train-{shard}.parquet", path.read_bytes())
        environment = {**store.environment, "HF_HOME": str(self.folder()), "HF_HUB_DISABLE_XET": "1"}
        expected = parquet_files.read_from_hub(f"{store.repository}@main/data/*.parquet", environment)
        if expected is None:
            self.skipTest("no huggingface_hub")
        steps = [f"read: {{url: '{store.repository}@main/data/*.parquet'}}",
                 "decode: {image: {key: image, as: bytes}, label: {key: label, as: int64}, "
                 "caption: {key: caption, as: text}, url: {key: __url__, as: text}}", "batch: {size: 4, last: partial}"]
        files, rows = [], []
        with Daemon(stream_yaml(steps), environment=environment) as daemon:
            with echoline.Loader("train", runtime_dir=daemon.runtime_dir) as loader:
                for batch in loader:
                    files += [bytes(url).decode().removeprefix("hf://") for url in batch["url"]]
                    rows += [[hashlib.sha256(image).hexdigest(), int(label), bytes(caption).decode()] for
                             image, label, caption in zip(batch["image"], batch["label"], batch["caption"], strict=True)]
        self.assertEqual(rows, expected["rows"])
        self.assertEqual(sorted(set(files)), expected["files"])

    def test_json_lines_give_text_and_numbers(self):
        lines = [json.dumps({"text": "ä" * number, "n": number}) for number in range(COUNT)]
        (self.data / "lines.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
        steps = [f"read: {{url: '{self.data}/lines.jsonl.gz'}}",
                 "decode: {text: {key: text, as: text}, n: {key: n, as: int64}}", "batch: {size: 8}"]
        with Daemon(stream_yaml(steps)) as daemon:
            batches = whole(daemon.read("--epochs", 1, "--row-checksums"))
        self.assertEqual([row[0] for batch in batches for row in batch["rows"]], list(range(COUNT)))

    def test_lists_of_files_give_the_same_samples(self):
        (self.data / "files").mkdir()
        lines = []
        for number, (content, label) in enumerate(self.photos):
            name = f"files/{number * 7 % COUNT}.jpg"
            (self.data / name).write_bytes(content)
            lines.append((name, label))
        csv = "".join(f"{name},{label}\n" for name, label in lines)
        (self.data / "list.csv").write_text(csv, encoding="utf-8")
        json_lines = "".join(json.dumps({"path": name, "label": label}) + "\n" for name, label in lines)
        (self.data / "list.jsonl").write_text(json_lines, encoding="utf-8")
        for name in ("list.csv", "list.jsonl"):
            rows = self.rows(f"{self.data}/{name}", "files", "jpg", "cls")
            # Each file is its own shard: the order differs, the samples do not.
            self.assertEqual(sorted(rows), sorted(self.expected))

    def test_compressed_tars_give_the_same_rows_but_refuse_a_full_shuffle(self):
        (self.data / "packed").mkdir()
        for shard in range(2):
            plain = (self.data / "tars" / f"{shard}.tar").read_bytes()
            (self.data / "packed" / f"{shard}.tar.gz").write_bytes(gzip.compress(plain, 1))
        self.assertEqual(self.rows(f"{self.data}/packed/*.tar.gz", "auto", "jpg", "cls"), self.expected)
        steps = [f"read: {{url: '{self.data}/packed/*.tar.gz'}}", "shuffle: {window: all}", *decode("jpg", "cls")]
        self.assertIn("the shards are compressed", self.refused(stream_yaml(steps)))

    def test_the_command_line_publishes_the_index_next_to_the_data(self):
        shard_writers.write_tfrecord(self.data / "one.tfrecord", [{"x": b"1"}, {"x": b"2"}])
        done = run_index(self.data / "one.tfrecord", "--publish")
        self.assertEqual({"records": 2, "format": "tfrecord", "published": 1},
                         {name: json.loads(done.stdout)[name] for name in ("records", "format", "published")})
        self.assertTrue((self.data / "one.tfrecord.echoline-index").exists())

    def test_every_record_gets_a_checksum_if_the_format_has_an_index(self):
        shard_writers.write_tfrecord(self.data / "two.tfrecord", [{"x": b"1"}, {"x": b"2"}])
        for arguments, checksums in ((), 0), (("--checksums",), 2):
            done = run_index(str(self.data / "two.tfrecord"), *arguments)
            self.assertEqual(json.loads(done.stdout)["checksums"], checksums, done.stderr)
        (self.data / "classes" / "cat").mkdir(parents=True)
        (self.data / "classes" / "cat" / "1.jpg").write_bytes(self.photos[0][0])
        refused = run_index(f"{self.data}/classes/", "--checksums")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("format folder has no index that checksums could be kept in", refused.stderr)


if __name__ == "__main__":
    main()
