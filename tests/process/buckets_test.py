#!/usr/bin/env python3
"""Batches of records with similar lengths (batch.buckets): their rows, their order, resume, echo, and what is refused."""
import collections
import contextlib
import random

from support import megatron_files
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library

require_library()

import echoline  # noqa: E402

UP_TO = [8, 20, 50]
ROWS = {8: 24, 20: 12, 50: 4}  # a budget of 240, at most 24 rows, and multiples of 4
BUCKETS = f"buckets: {{up_to: {UP_TO}, by: tokens, budget: 240, multiple: 4}}"


class Buckets(ProcessCase):
    @classmethod
    def setUpClass(cls):
        draws = random.Random(3)
        cls.place = cls.class_folder()
        cls.documents = [[draws.randrange(50000) for _ in range(draws.choice((5, 8, 9, 20, 21, 50)))] for _ in range(501)]
        megatron_files.write_pair(cls.place / "corpus", cls.documents, "int32")

    def stream(self, *, buckets=BUCKETS, shuffle="shuffle: {window: all}", before="", after="", last="partial", more=""):
        return stream_yaml([f"read: {{url: '{self.place}/corpus.bin', format: megatron}}", shuffle,
                            "decode: {tokens: {key: tokens, as: int32, shape: [50], ragged: true}}", before,
                            f"batch: {{size: 24, last: {last}, {buckets}}}", after], more=more)

    def loader(self, daemon, **options):
        return contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir, **options))

    def check_rows(self, batch):
        """Each row is the document of its id; the batch is padded to the length of its bucket."""
        padded = batch["tokens"].padded(fill=-1, length=batch.bucket_length)
        self.assertEqual(padded.shape, (batch.rows, batch.bucket_length))
        for row, sample in enumerate(batch.sample_ids):
            document = self.documents[int(sample)]
            self.assertEqual(padded[row].tolist(), document + [-1] * (batch.bucket_length - len(document)))

    def test_ranks_have_equally_many_rows_of_one_bucket_and_each_record_once(self):
        for more in ("", "    lanes: 3\n"):  # which changes no order
            with self.subTest(more), Daemon(self.stream(more=more)) as daemon, contextlib.ExitStack() as stack:
                ranks = [stack.enter_context(self.loader(daemon, rank=rank, world_size=2)) for rank in range(2)]
                for _ in range(2):
                    seen, lengths = [], collections.Counter()
                    for one, other in zip(*ranks):
                        self.assertEqual((one.step, one.bucket_length, one.is_last),
                                         (other.step, other.bucket_length, other.is_last))
                        if not one.is_last:
                            self.assertEqual([one.rows, other.rows], 2 * [ROWS[one.bucket_length] // 2])
                        lengths[one.bucket_length] += 1
                        for batch in (one, other):
                            self.check_rows(batch)
                            seen += batch.sample_ids[batch.valid].tolist()
                    self.assertEqual(sorted(seen), list(range(501)))
                    self.assertEqual(sorted(lengths), UP_TO)
                    self.assertEqual(sum(lengths.values()), len(ranks[0]))

    def test_a_state_continues_with_exactly_the_next_batch_with_any_ranks_and_echo(self):
        for name, stream in (("plain", self.stream()), ("pad", self.stream(last="pad")),
                             ("all uses in a batch", self.stream(before="echo: {factor: 2, spread: step}")),
                             ("batches again", self.stream(after="echo: {factor: 1.5, window: 3}"))):
            with self.subTest(name), Daemon(stream) as daemon:
                with self.loader(daemon) as loader:
                    states, expected = [], []
                    for batch in loader:
                        self.check_rows(batch)
                        states.append(loader.state_dict())
                        expected.append((batch.step, batch.bucket_length, batch.sample_ids.tolist()))
                for at in (0, 7, len(states) - 2):
                    with contextlib.ExitStack() as stack:
                        ranks = [stack.enter_context(self.loader(daemon, rank=rank, world_size=4, state=states[at]))
                                 for rank in range(4)]
                        for whole, parts in zip(expected[at + 1:], zip(*ranks)):
                            valid = [sample for part in parts for sample in part.sample_ids[part.valid].tolist()]
                            self.assertEqual([part.bucket_length for part in parts], 4 * [whole[1]])
                            self.assertEqual(valid, whole[2][:len(valid)])
                            self.assertTrue(len(valid) == len(whole[2]) or parts[0].is_last)

    def test_what_cannot_be_is_refused_with_what_to_do(self):
        for options, message in (
                ({"shuffle": "shuffle: {window: 10}"}, "key 'window': with 'buckets' in the batch step it must be 'all'"),
                ({"buckets": "buckets: {up_to: [8, 8], by: tokens}"}, "key 'up_to': 8 after 8"),
                ({"buckets": "buckets: {up_to: [8, 50], by: tokens, budget: 300}"}, "up to 50 has 6 rows, less than 'multiple: 8'"),
                ({"before": "echo: {factor: 2, window: 300}"}, "use 'spread: step', or move the echo step after 'batch'")):
            self.assertIn(message, self.refused(self.stream(**options)))
        with Daemon(self.stream()) as daemon:
            self.assertIn("up to 8: ", daemon.log())
            for options, message in (({"world_size": 3, "rank": 0}, "up to 20 have|up to 50 have 4 rows, no multiple of world size 3"),
                                     ({"batch_size": 12}, "a stream with buckets has batches of 24 only")):
                with self.assertRaisesRegex(echoline.InvalidArgument, message), self.loader(daemon, **options):
                    pass

    def test_bytes_are_a_length_for_every_format(self):
        place = self.folder()
        texts = ["x" * length for length in (3, 30, 4, 31, 5, 32, 6, 33)]
        (place / "lines.txt").write_text("\n".join(texts), encoding="utf-8")
        read = [f"read: {{url: '{place}/lines.txt', format: lines}}", "shuffle: {window: all}",
                "decode: {text: {key: text, as: text, max_bytes: 64}}"]
        with Daemon(stream_yaml([*read, "batch: {size: 4, buckets: {up_to: [10, 40], by: bytes}}"])) as daemon:
            with self.loader(daemon) as loader:
                found = {batch.bucket_length: sorted(len(row) for row in batch["text"]) for batch in loader}
                self.assertEqual(found, {10: [3, 4, 5, 6], 40: [30, 31, 32, 33]})
        log = self.refused(stream_yaml([*read, "batch: {size: 4, buckets: {up_to: [10, 40], by: tokens}}"]))
        self.assertIn("format lines does not have here; write 'by: bytes'", log)


if __name__ == "__main__":
    main()
