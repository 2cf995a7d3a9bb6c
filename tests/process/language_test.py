#!/usr/bin/env python3
"""Tokens in batches: documents of Megatron's files, rows packed with them, text that is tokenized while training, and the
example that trains a language model of bytes."""
import contextlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys

from support import megatron_files
from support.daemon_process import Daemon, stream_yaml
from support.private_daemons import stop_private_daemons
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, binary, require_library

require_library()

import numpy  # noqa: E402
import echoline  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
LENGTH, PADDING = 64, 3
FIELDS = {"tokens": "int32", "labels": "int64", "positions": "int32", "segments": "int32", "loss_mask": "uint8"}
DECODE = "decode: {" + ", ".join(f"{name}: {{key: {name}, as: {dtype}, shape: [{LENGTH}]}}"
                                 for name, dtype in FIELDS.items()) + "}"


def documents(seed, count=200):
    """Some are empty, some are longer than a row."""
    draws = random.Random(seed)
    return [[draws.randrange(50000) for _ in range(int(draws.paretovariate(0.8)) * draws.randrange(5) % 300)]
            for _ in range(count)]


class Documents(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.files = [documents(1), documents(2, 70)]
        cls.place = cls.class_folder()
        for number, file in enumerate(cls.files):
            megatron_files.write_pair(cls.place / f"part-{number}", file)

    def packed(self, method, steps=()):
        read = (f"read: {{url: '{self.place}/*.bin', format: megatron, "
                f"pack: {{length: {LENGTH}, method: {method}, padding: {PADDING}}}}}")
        return stream_yaml([read, "shuffle: {window: 50}", DECODE, *steps, "batch: {size: 4, last: partial}"])

    @contextlib.contextmanager
    def loader(self, daemon, **options):
        with contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir, **options)) as loader:
            yield loader

    def test_packed_rows_equal_those_of_plain_python(self):
        for method, pack in (("cut", megatron_files.cut_rows), ("best_fit", megatron_files.best_fit_rows)):
            expected = [megatron_files.fields_of(row, LENGTH, PADDING) for file in self.files for row in pack(file, LENGTH)]
            with self.subTest(method), Daemon(self.packed(method, ["echo: {factor: 2, window: 20}"])) as daemon:
                with self.loader(daemon) as loader:
                    seen = []
                    for batch in loader:
                        for row, sample in enumerate(batch.sample_ids):
                            seen.append(int(sample))
                            for name in FIELDS:
                                numpy.testing.assert_array_equal(batch[name][row], expected[int(sample)][name], name)
                                self.assertEqual(batch[name].dtype, FIELDS[name])
                self.assertEqual(sorted(seen), sorted(2 * list(range(len(expected)))))

    def test_a_resumed_trainer_gets_the_same_rows(self):
        def rows(batches):
            return [(batch.sample_ids.tolist(), batch["tokens"].tolist(), batch["labels"].tolist()) for batch in batches]
        for method in ("cut", "best_fit"):
            with self.subTest(method):
                with Daemon(self.packed(method)) as daemon, self.loader(daemon) as loader:
                    batches = iter(loader)
                    for _ in range(5):
                        next(batches)
                    state = loader.state_dict()
                    expected = rows(batches)
                with Daemon(self.packed(method)) as daemon, self.loader(daemon, state=state) as loader:
                    self.check_equal_batches(rows(loader), expected)
                    self.assertGreater(len(expected), 8)
                with Daemon(self.packed("best_fit" if method == "cut" else "cut")) as daemon:
                    with self.assertRaisesRegex(echoline.Error, "fingerprint|data set"), self.loader(daemon, state=state):
                        pass

    def test_rows_of_another_length_are_not_taken_from_a_cache(self):
        place = self.folder()
        texts = [[100 * number + at for at in range(length)] for number, length in enumerate((40, 40, 32, 40))]
        megatron_files.write_pair(place / "few", texts)
        for length in (64, 32):  # the third row of the first is where the fifth of the second is, and as long
            steps = [f"read: {{url: '{place}/few.bin', format: megatron, pack: {{length: {length}, method: best_fit}}}}",
                     f"cache: {{disk: {{path: '{place}/cache', size: 10MB}}}}",
                     f"decode: {{tokens: {{key: tokens, as: int32, shape: [{length}]}}}}", "batch: {size: 1}"]
            with Daemon(stream_yaml(steps)) as daemon, self.loader(daemon) as loader:
                found = [batch["tokens"][0].tolist() for batch in loader]
            rows = megatron_files.best_fit_rows(texts, length)
            self.assertEqual(found, [megatron_files.fields_of(row, length, 0)["tokens"].tolist() for row in rows])

    def test_a_record_is_a_document_of_its_own_length(self):
        steps = [f"read: {{url: '{self.place}'}}",
                 "decode: {tokens: {key: tokens, as: uint16, shape: [300], ragged: true}}",
                 "batch: {size: 8, last: partial}"]
        with Daemon(stream_yaml(steps)) as daemon, self.loader(daemon) as loader:
            found = [row.tolist() for batch in loader for row in batch["tokens"]]
        self.assertEqual(found, [document for file in self.files for document in file if document])


TEXTS = ["the first document", "zwölf Boxkämpfer jagen Viktor", "the second one", "ünïcode \u4e16\u754c", "one"] * 8


class Tokenizers(ProcessCase):
    """The programs of docs/language.md, with models that are made here."""

    def blocks(self):
        page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
        return {name: text for name, text in re.findall(r"```(?:python|yaml)\n# (\S+)\n(.*?)```", page, re.DOTALL)}

    def check_tokens(self, module, program):
        """The stream of the page, with this module instead of the one that it names, gives the tokens of each text that
        this program prints, which makes the model first."""
        folder, blocks = self.folder(), self.blocks()
        packages = self.packages(module)
        (folder / "corpus.txt").write_text("\n".join(TEXTS), encoding="utf-8")
        for name, text in blocks.items():
            (folder / name).write_text(text, encoding="utf-8")
        expected = json.loads(self.python(folder, packages, program))
        self.assertEqual(len(expected), len(TEXTS))
        file = next(name for name, text in blocks.items() if re.search(rf"^(?:from|import) {module}", text, re.MULTILINE))
        steps = re.search(r"pipeline:\n(.*)", blocks["tokenize.yaml"], re.DOTALL).group(1)
        steps = steps.replace("subwords.py", str(folder / file)).replace("corpus.txt", str(folder / "corpus.txt"))
        environment = {"PYTHONPATH": packages, "ECHOLINE_PYTHON": "/usr/bin/python3"}
        with Daemon("  train:\n    pipeline:\n" + steps, environment=environment) as daemon:
            with contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir)) as loader:
                found = [row[:length].tolist() for batch in loader for row, length in zip(batch["tokens"], batch["length"])]
        self.assertEqual(found, expected)
        return folder, packages, expected

    def packages(self, module):
        """The folder that has this module; the Python of the daemon's workers has numpy."""
        for python in ("/usr/bin/python3", str(ROOT / "build" / "venv" / "bin" / "python"), os.environ.get("ECHOLINE_PYTHON")):
            found = python and subprocess.run(
                [python, "-c", f"import {module}, os; print(os.path.dirname(os.path.dirname({module}.__file__)))"],
                capture_output=True, text=True, check=False)
            if found and found.returncode == 0:
                return found.stdout.strip()
        return self.skipTest(f"no Python here has {module}")

    def python(self, folder, packages, program):
        """The output of a program that runs in the folder with these packages."""
        done = subprocess.run(["/usr/bin/python3", "-c", program], cwd=folder, capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": packages}, timeout=PATIENCE)
        return done.stdout

    def test_text_becomes_the_ids_of_hugging_face_tokenizers(self):
        folder, packages, expected = self.check_tokens("tokenizers", (
            "from tokenizers import Tokenizer, models, pre_tokenizers, trainers\n"
            "made = Tokenizer(models.BPE())\nmade.pre_tokenizer = pre_tokenizers.ByteLevel()\n"
            "texts = open('corpus.txt', encoding='utf-8').read().splitlines()\n"
            "made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, show_progress=False))\n"
            "made.save('tokenizer.json')\n"
            "print([made.encode(text).ids for text in texts])"))
        self.check_files(folder, packages, expected)

    def check_files(self, folder, packages, expected):
        """The example that tokenizes text once writes these tokens as Megatron does, with lines of each kind."""
        (folder / "corpus.jsonl").write_text("\n".join(json.dumps({"content": text}) for text in TEXTS), encoding="utf-8")
        last = expected[0][-1]
        piece = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        end = next(text for text, number in piece.items() if number == last)
        for text, options, more in (("corpus.txt", ["--lines"], []), ("corpus.jsonl", ["--key", "content", "--end", end], [last])):
            subprocess.run(["/usr/bin/python3", "-B", ROOT / "client/examples/tokenize_text.py", folder / "tokenizer.json",
                            folder / text, folder / "made", *options], check=True, capture_output=True, timeout=PATIENCE,
                           env={**os.environ, "PYTHONPATH": packages})
            megatron_files.write_pair(folder / "expected", [document + more for document in expected])
            for kind in (".bin", ".idx"):
                self.assertEqual((folder / f"made{kind}").read_bytes(), (folder / f"expected{kind}").read_bytes())

    def test_text_becomes_the_ids_of_sentencepiece(self):
        self.check_tokens("sentencepiece", (
            "import sentencepiece\n"
            "sentencepiece.SentencePieceTrainer.train(input='corpus.txt', model_prefix='pieces', vocab_size=60,\n"
            "    hard_vocab_limit=False, minloglevel=2)\n"
            "model = sentencepiece.SentencePieceProcessor(model_file='pieces.model')\n"
            "print([model.encode(text) for text in open('corpus.txt', encoding='utf-8').read().splitlines()])"))


class Example(ProcessCase):
    def test_the_model_of_bytes_learns(self):
        try:
            import torch  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
        except ImportError as missing:
            self.skipTest(str(missing))
        folder, draws = self.folder(), random.Random(1)
        words = "the model reads a row of bytes and says which byte is next".split()
        (folder / "corpus.txt").write_text(" ".join(draws.choice(words) for _ in range(6000)), encoding="utf-8")
        environment = {**os.environ, "ECHOLINE_DAEMON": binary("ECHOLINED"), "ECHOLINE_PRIVATE_DIR": str(folder / "private"),
                       "PYTHONPATH": str(ROOT / "client" / "python"), "OMP_NUM_THREADS": "1"}
        self.addCleanup(stop_private_daemons, folder / "private")
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "client" / "examples" / "train_bytes.py", folder / "corpus.txt", "--steps", "60",
             "--context", "64", "--width", "32", "--layers", "4", "--batch", "8", "--echo", "2", "--sample", "20"],
            capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        bits = float(re.search(r"test: ([\d.]+) bits", done.stdout).group(1))
        self.assertLess(bits, 3.2)  # 8 before the first step; 4.0 for single bytes without those before them
        self.assertGreater(bits, 0.3)


if __name__ == "__main__":
    main()
