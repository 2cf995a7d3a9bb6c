#!/usr/bin/env python3
"""Epochs in an order of the user's (shuffle.order): rows are the entries of the lists, for any number of lanes and ranks,
and after a resume; other lists are refused, and mistakes in them are named."""
import concurrent.futures
import contextlib
import gzip
import pathlib
import re

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import DECODE, Records

require_library()

import numpy  # noqa: E402
import echoline  # noqa: E402

COUNT, LENGTH, BATCH = 240, 90, 12


class Orders(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.records = Records(cls.class_folder(), count=COUNT, shards=3, ballast=(100, 400))
        draws = numpy.random.default_rng(5)
        # Each list has some records several times.
        cls.lists = [draws.integers(0, COUNT, LENGTH) for _ in range(2)]

    def stream(self, order, *steps, url=None, more=""):
        return stream_yaml([f"read: {{url: '{url or self.records.url}', format: webdataset}}",
                            f"shuffle: {{order: '{order}'}}", DECODE, "random_crop: {field: image, size: 8, padding: 2}",
                            *steps, f"batch: {{size: {BATCH}, last: partial}}"], more=more)

    def written(self, name="{epoch}.npy"):
        """The lists as files; returns `order` for them."""
        folder = self.folder()
        for epoch, ids in enumerate(self.lists):
            path = folder / name.replace("{epoch}", str(epoch))
            if name.endswith(".npy"):
                numpy.save(path, ids)
            else:
                numpy.savetxt(path, ids, fmt="%d")
        return str(folder / name)

    @contextlib.contextmanager
    def loader(self, daemon, **options):
        with contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir, **options)) as loader:
            yield loader

    def rows(self, loader):
        """(sample id, pixels) of the rest of an epoch."""
        return [(int(sample), batch["image"][row].tobytes()) for batch in loader
                for row, sample in enumerate(batch.sample_ids)]

    def test_rows_are_the_entries_of_the_lists_in_turn_for_any_lanes_and_ranks(self):
        order = self.written()
        with Daemon(self.stream(order, more="    lanes: 4\n")) as daemon:
            # The lists were read when the stream was opened.
            for path in pathlib.Path(order).parent.iterdir():
                path.write_text("1\n", encoding="utf-8")
            ranks = [echoline.Loader("train", "job", rank, 3, runtime_dir=daemon.runtime_dir) for rank in range(3)]
            with concurrent.futures.ThreadPoolExecutor(3) as threads:
                for epoch in range(3):
                    read = list(threads.map(lambda rank: [batch.sample_ids[:batch.valid_rows].tolist() for batch in rank],
                                            ranks))
                    rows = [sample for step in zip(*read) for part in step for sample in part]
                    self.assertEqual(rows, self.lists[epoch % 2].tolist(), f"epoch {epoch}")
            for rank in ranks:
                self.assertEqual((len(rank), rank.fresh_per_epoch), (-(-LENGTH // BATCH), LENGTH))
                rank.close()

    def test_a_state_continues_in_the_same_lists_in_other_files_and_not_in_others(self):
        with Daemon(self.stream(self.written())) as daemon, self.loader(daemon) as loader:
            first = self.rows(loader)
            batches = iter(loader)
            for _ in range(3):
                next(batches)
            state = loader.state_dict()
            rest, third = self.rows(batches), self.rows(loader)
        self.assertEqual([sample for sample, _ in first], self.lists[0].tolist())
        with Daemon(self.stream(self.written("list-{epoch}.txt"))) as daemon:
            with self.loader(daemon, state=state, batch_size=5) as loader:
                self.assertEqual([sample for sample, _ in rest], self.lists[1][3 * BATCH:].tolist())
                self.check_equal_batches(self.rows(loader), rest)
                self.check_equal_batches(self.rows(loader), third)
        order = self.written()
        numpy.save(order.replace("{epoch}", "1"), self.lists[1][::-1])
        with Daemon(self.stream(order)) as daemon:
            with self.assertRaisesRegex(echoline.Error, "another pipeline"), self.loader(daemon, state=state):
                pass

    def test_each_entry_of_a_record_has_its_own_augmentations_at_every_echo_point(self):
        order = self.folder() / "same.txt"
        order.write_text("7\n" * 60 + "8\n" * 60, encoding="utf-8")
        echo = "echo: {factor: 2, window: 60, allow_repeats: true}"
        crop = "random_crop: {field: image, size: 8, padding: 2}"
        read, shuffle = f"read: {{url: '{self.records.url}', format: webdataset}}", f"shuffle: {{order: '{order}'}}"
        batch = f"batch: {{size: {BATCH}}}"
        for place, steps in {"none": [DECODE, crop, batch], "record": [echo, DECODE, crop, batch],
                             "augmented": [DECODE, crop, echo, batch], "batch": [DECODE, crop, batch, echo]}.items():
            with self.subTest(place), Daemon(stream_yaml([read, shuffle, *steps])) as daemon:
                with self.loader(daemon) as loader:
                    rows = self.rows(loader)
                self.assertEqual(len(rows), 120 if place == "none" else 240)
                for sample in (7, 8):
                    # 25 crops are possible: with one draw for all entries there would be one or two.
                    self.assertGreater(len({pixels for found, pixels in rows if found == sample}), 10)

    def test_the_lists_are_part_of_the_memory(self):
        with Daemon(self.stream(self.written()), metrics=True) as daemon:
            # 4 bytes for each entry, and 2 for the numbers of the repeats.
            self.assertEqual(daemon.metric_lines("echoline_memory_bytes")['{use="order"}'], 2 * LENGTH * 6)

    def check_refused(self, message, order, url=None):
        self.assertIn(message, self.refused(self.stream(order, url=url)))

    def test_mistakes_are_named_with_file_and_place(self):
        folder = self.folder()

        def text(content):
            (folder / "list.txt").write_text(content, encoding="utf-8")
            return folder / "list.txt"

        def array(content):
            numpy.save(folder / "list.npy", content)
            return folder / "list.npy"

        for message, order in (
                (f"list.txt: line 3: there is no record {COUNT}; the data set has records 0 to {COUNT - 1}",
                 lambda: text(f"0\n\n{COUNT}\n")),
                ("list.txt: line 2: 'r7' is no record id; write one number on each line", lambda: text("7\r\nr7\n")),
                ("list.txt: no record in it", lambda: text("\n")),
                ("list.npy: element 1: a negative number is no record id", lambda: array(numpy.array([1, -1]))),
                (f"list.npy: element 2: there is no record {2 ** 40}", lambda: array(numpy.array([1, 2, 2 ** 40]))),
                ("list.npy: an array of floats; record ids are integers, as uint64", lambda: array(numpy.ones(3))),
                ("list.npy: an array of 2 dimensions; a list of record ids has one",
                 lambda: array(numpy.ones((3, 1), dtype=int))),
                (f"{folder}/none.txt: No such file or directory", lambda: folder / "none.txt"),
                (f"there is no list for epoch 0: {folder}/e0.txt", lambda: folder / "e{epoch}.txt")):
            with self.subTest(message):
                self.assertRegex(self.refused(self.stream(order())), f"shuffle.order: .*{re.escape(message)}")

    def test_lists_of_epochs_must_all_be_there_and_have_one_length(self):
        order = pathlib.Path(self.written("order-{epoch}.txt"))
        (order.parent / "order-3.txt").write_text("1\n", encoding="utf-8")
        self.check_refused(f"shuffle.order: there is no list for epoch 2: {order.parent}/order-2.txt, but one for epoch 3",
                           order)
        (order.parent / "far").mkdir()
        (order.parent / "far" / "4294967295.txt").write_text("1\n", encoding="utf-8")
        self.check_refused("there is no list for epoch 0", order.parent / "far" / "{epoch}.txt")
        (order.parent / "order-2.txt").write_text("1\n2\n", encoding="utf-8")
        self.check_refused("order-2.txt: 2 records, and the first list has 90; all epochs have the same length", order)

    def test_compressed_shards_are_refused(self):
        shard = self.folder() / "records.tar.gz"
        shard.write_bytes(gzip.compress(self.records.paths[0].read_bytes()))
        order = self.folder() / "list.txt"
        order.write_text("3\n1\n", encoding="utf-8")
        self.check_refused("shuffle.order: a list can have records in any order, and the shards are compressed", order, shard)


if __name__ == "__main__":
    main()
