#!/usr/bin/env python3
"""Several sources in one stream (step mix): shares, ends, lanes, ranks, echo, resume, counts, and refusals."""
import concurrent.futures
import contextlib
import gzip
import json
import re

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library, run_echoline
from support.records import Records

require_library()

import echoline  # noqa: E402

# Labels of the lines come after those of the tars.
TARS, LINES, BATCH = 240, 40, 12


class Mix(ProcessCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.class_folder()
        cls.tars = Records(folder, count=TARS, shards=3, ballast=(100, 400))
        cls.lines = folder / "lines.jsonl.gz"
        text = "".join(json.dumps({"y": TARS + line}) + "\n" for line in range(LINES))
        cls.lines.write_bytes(gzip.compress(text.encode()))

    def stream(self, end="at_end: stop", shuffle="shuffle: {window: 30}", steps=(), size=BATCH, more="", cls="cls"):
        sources = [f"{{name: tars, weight: 0.75, read: {{url: '{self.tars.url}'}}}}",
                   f"{{name: lines, weight: 0.25, read: {{url: '{self.lines}', format: jsonl}}, "
                   "decode: {label: {key: y, as: int64}}}"]
        return stream_yaml([f"mix: {{sources: [{', '.join(sources)}], {end}}}", shuffle,
                            *(steps or (f"decode: {{label: {{key: {cls}, as: int64}}}}",)),
                            f"batch: {{size: {size}, last: partial}}"], more=more)

    @contextlib.contextmanager
    def loader(self, daemon, **options):
        with contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir, **options)) as loader:
            yield loader

    def labels(self, batches):
        """The labels of the rest of an epoch; a sample id is the label here."""
        labels = []
        for batch in batches:
            found = batch["label"][:batch.valid_rows].tolist()
            self.assertEqual(found, batch.sample_ids[:batch.valid_rows].tolist())
            labels += found
        return labels

    def test_shares_hold_everywhere_and_lanes_and_ranks_change_nothing_else(self):
        with Daemon(self.stream(), metrics=True) as daemon, self.loader(daemon) as loader:
            epochs = [self.labels(loader) for _ in range(2)]
            counts = daemon.metric_lines("echoline_mix_samples_total")
        for labels in epochs:
            # The next line would be the 41st.
            self.assertEqual(len(labels), 4 * LINES)
            self.assertEqual(len(set(labels)), len(labels))
            for rows in range(0, len(labels), 4):
                self.assertEqual(sum(label >= TARS for label in labels[rows:rows + 4]), 1)
        self.assertNotEqual(epochs[0], epochs[1])
        lines = counts['{stream="train",source="lines"}']
        self.assertGreaterEqual(lines, 2 * LINES)
        # All batches have a multiple of four rows.
        self.assertEqual(counts['{stream="train",source="tars"}'], 3 * lines)
        with Daemon(self.stream(more="    lanes: 4\n")) as daemon:
            ranks = [echoline.Loader("train", "job", rank, 3, runtime_dir=daemon.runtime_dir) for rank in range(3)]
            with concurrent.futures.ThreadPoolExecutor(3) as threads:
                read = list(threads.map(lambda rank: [batch["label"][:batch.valid_rows].tolist() for batch in rank], ranks))
            for rank in ranks:
                rank.close()
            self.assertEqual([label for step in zip(*read) for part in step for label in part], epochs[0])

    def test_ends(self):
        with Daemon(self.stream("at_end: drop")) as daemon, self.loader(daemon) as loader:
            self.assertEqual(sorted(self.labels(loader)), list(range(TARS + LINES)))
        with Daemon(self.stream("at_end: repeat, records: 480")) as daemon, self.loader(daemon) as loader:
            labels = self.labels(loader)
        lines = [label for label in labels if label >= TARS]
        self.assertEqual((len(labels), len(lines)), (480, 120))
        for begin in range(0, 120, LINES):
            self.assertEqual(sorted(lines[begin:begin + LINES]), list(range(TARS, TARS + LINES)))
        self.assertNotEqual(lines[:LINES], lines[LINES:2 * LINES])

    def test_a_state_continues_exactly_with_another_batch_size_and_echo(self):
        decode = "decode: {label: {key: cls, as: int64}}"
        echo = "echo: {factor: 2.5, window: 48}"
        for place, steps in {"record": [echo, decode], "sample": [decode, echo]}.items():
            streams = self.stream("at_end: repeat, records: 300", steps=steps)
            with self.subTest(place):
                with Daemon(streams) as daemon, self.loader(daemon) as loader:
                    batches = iter(loader)
                    for _ in range(7):
                        next(batches)
                    state = loader.state_dict()
                    rest, second = self.labels(batches), self.labels(loader)
                with Daemon(streams) as daemon, self.loader(daemon, state=state, batch_size=10) as loader:
                    self.assertEqual(self.labels(loader), rest)
                    self.assertEqual(self.labels(loader), second)

    def test_another_weight_is_another_pipeline(self):
        with Daemon(self.stream()) as daemon, self.loader(daemon) as loader:
            next(iter(loader))
            state = loader.state_dict()
        with Daemon(self.stream().replace("0.75", "0.7")) as daemon:
            with self.assertRaisesRegex(echoline.Error, "another pipeline"), self.loader(daemon, state=state):
                pass

    def test_weights_change_while_trainers_read_and_are_in_states(self):
        streams = self.stream("at_end: repeat, records: 4800")
        with Daemon(streams, metrics=True) as daemon, self.loader(daemon) as loader:
            batches = iter(loader)
            next(batches)
            done = daemon.command("set-weights", "train", "lines=3", "tars=1")
            found = re.fullmatch("weights of train: lines=3, tars=1 from row ([0-9]+) of epoch 0 on, counted without "
                                 "echo, for default\n", done.stdout)
            self.assertIsNotNone(found, done.stdout + done.stderr)
            self.assertEqual(daemon.metric_lines("echoline_mix_weight")['{stream="train",source="lines"}'], 3)
            for _ in range(int(found[1]) // BATCH + 1):
                batch = next(batches)
            self.assertEqual(sum(batch["label"] >= TARS), BATCH * 3 // 4)
            del batch  # a batch that is held holds its slot
            state = loader.state_dict()
            self.assertEqual(state["weights"], [[int(found[1]), [1000, 3000]]])
            self.assertEqual(daemon.command("set-weights", "train", "nothing=1").returncode, 1)
            self.assertIn("'lines' is no weight of a source", daemon.command("set-weights", "train", "lines").stderr)
            rest, second = self.labels(batches), self.labels(loader)
        self.assertEqual(sum(label >= TARS for label in second), 3600)
        with Daemon(streams) as daemon, self.loader(daemon, state=state, batch_size=10) as loader:
            self.assertEqual(self.labels(loader), rest)
            self.assertEqual(self.labels(loader), second)

    def test_what_does_not_fit_is_refused(self):
        window_all = "the shards are compressed"
        self.assertIn(window_all, self.refused(self.stream(shuffle="shuffle: {window: all}")))
        self.assertIn("mix: source lines", self.refused(self.stream().replace("lines.jsonl.gz", "none.jsonl.gz")))
        self.assertIn("mix: field label of source lines is of another type",
                      self.refused(self.stream().replace("key: y, as: int64", "key: y, as: float32")))
        self.assertIn("mix: source tars: none of the first 8 records can be prepared", self.refused(self.stream(cls="nothing")))

    def test_check_names_the_line_of_the_source(self):
        text = "streams:\n" + self.stream().replace("lines.jsonl.gz", "none.jsonl.gz")
        config = self.folder() / "echoline.yaml"
        config.write_text(text, encoding="utf-8")
        checked = run_echoline("check", config)
        self.assertEqual(checked.returncode, 1)
        self.assertIn("mix: source lines: ", checked.stderr)
        line, column = map(int, re.search(r":(\d+):(\d+): ", checked.stderr).groups())
        self.assertRegex(text.splitlines()[line - 1][column - 1:], "^'?[^ ]*none.jsonl.gz")


if __name__ == "__main__":
    main()
