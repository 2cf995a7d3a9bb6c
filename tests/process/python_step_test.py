#!/usr/bin/env python3
"""The step `python` and `read: python`: users' functions and data sets in processes of their own. They give the same batches
with any number of workers, may end, hang, or fill memory and the log, and see nothing of the daemon's secrets."""
import collections
import os
import pathlib
import pwd
import random
import shutil
import signal
import subprocess
import tempfile
import unittest

import numpy as np

from support.daemon_process import Daemon, stream_yaml
from support.process_case import main
from support.programs import require_library, run_echoline, wait_until
from support.tars import write_tar
from support.user_code_case import UserCodeCase, workers_of

require_library()
import echoline  # noqa: E402  (it needs the library)

RECORDS = 48
SEED = UserCodeCase.SEED
SOURCE = pathlib.Path(__file__).parent / "support" / "python_functions.py"
STEP = 2  # of shuffle, decode, python
FAULTS = int(os.environ.get("ECHOLINE_USER_FAULTS", 16))  # of processes in the storm; 300 take some minutes
THREADED = os.environ.get("ECHOLINE_TEST_THREADED_PYTHON", "")  # a free-threaded CPython with numpy
PYTHON = shutil.which("python3", path="/usr/bin") or "python3"  # this Python has numpy, as that of the tests


def image(label):
    return np.random.default_rng(label).integers(0, 256, (16, 16, 3), dtype=np.uint8)


class PythonCase(UserCodeCase):
    def setUp(self):
        super().setUp()
        self.source = self.place / "functions.py"
        shutil.copyfile(SOURCE, self.source)


class PythonStep(PythonCase):
    def setUp(self):
        super().setUp()
        self.write_records(RECORDS)

    def write_records(self, count):
        write_tar(self.place / "set.tar", [(f"{label:03d}.{suffix}", content) for label in range(count) for
                                           suffix, content in (("u8", image(label).tobytes()), ("cls", str(label).encode()))])

    def steps(self, function="noise", out="image: {}", echo="", before=(), after=(), decoded="", batch=8, last="partial", **settings):
        settings = {"workers": 2, "timeout": "2s", "interpreter": PYTHON, "environment": "[TEST_MARKS]", **settings}
        more = "".join(f", {key}: {value}" for key, value in settings.items())
        return [f"read: {{url: '{self.place}/set.tar'}}", "shuffle: {window: 16}",
                f"decode: {{image: {{key: u8, as: uint8, shape: [16, 16, 3]}}, label: {{key: cls, as: int64}}{decoded}}}", *before,
                f"python: {{file: {self.source}, function: {function}, out: {{{out}}}{more}}}", echo, *after,
                f"batch: {{size: {batch}, last: {last}}}", "publish: {slots: 4}"]

    NOISE = ("image: {}, draws: {as: float64, shape: [3]}, short: {as: int32, max_length: 100}, "
             "boxes: {as: float32, shape: [4], max_length: 3}, "
             "worker: {as: int64}")

    def test_a_function_gets_the_documented_generator_and_its_results_are_the_rows(self):
        with self.daemon("noise", self.NOISE, metrics=True) as daemon:
            rows = self.rows(daemon, epochs=2)
            self.assertEqual(len(rows), 2 * RECORDS)
            for (epoch, sample, use, _), row in rows.items():
                rng = np.random.Generator(np.random.Philox(key=[SEED, STEP], counter=[0, sample, epoch << 32 | use, 0]))
                label = int(row["label"])
                np.testing.assert_array_equal(row["image"],
                                              image(label) ^ rng.integers(0, 256, (16, 16, 3), dtype=np.uint8))
                self.assertEqual(row["draws"][0], rng.random())
                self.assertEqual(len(row["short"]), min(50, label % 5 * 48))
                self.assertEqual(row["boxes"].tolist(), np.arange(4 * (label % 3)).reshape(-1, 4).tolist())
            self.assertEqual(len({row["draws"][1] for row in rows.values()}), len(rows), "random is seeded for each use")
            self.assertEqual(len({row["draws"][2] for row in rows.values()}), len(rows))
            self.assertEqual(len({int(row["worker"]) for row in rows.values()}), 2)
            # The first epoch and what was read ahead.
            self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="returned"), 2 * RECORDS)
            self.assertEqual(daemon.total("echoline_python_workers"), 2)
            self.assertGreater(daemon.total("echoline_python_call_seconds_total"), 0)

    CHUNK = {"function": "chunk", "out": "image: {}, draw: {as: float64}, label: {}, text: {}, name: {as: uint8, max_length: 9}",
             "decoded": ", text: {key: cls, as: text}", "batch": 12, "batched": "true"}

    def chunk_rows(self, **options):
        """The rows of two epochs, and (samples with results, repeated chunks, log)."""
        with self.daemon(**self.CHUNK, **options, metrics=True) as daemon:
            rows = self.rows(daemon, epochs=2)
            # Of a sample alone, results that stay as they are go to their rows at once.
            copied = any("copy image" in step for step in daemon.metric_lines("echoline_step_rows_total"))
            self.assertEqual(copied, options["chunk"] > 1 and "after" not in options)
            return rows, (daemon.total("echoline_python_calls_total", outcome="returned"),
                          daemon.total("echoline_python_chunks_repeated_total"), daemon.log())

    def test_chunks_of_samples_give_the_rows_of_single_samples(self):
        """However rows are cut into chunks, with a sample that spoils its chunk, a process that ends, and an echo before or
        after the function, whose results are then shared."""
        echo = "echo: {factor: 2, window: 30}"
        crop = "random_crop: {field: image, size: 16, padding: 3}"
        for place, share in (({}, False), ({"before": [echo]}, False), ({"echo": echo}, True), ({"after": [crop]}, False)):
            with self.subTest(**place):
                expected, (alone, repeated, _) = self.chunk_rows(chunk=1, workers=1, **place)
                self.assertEqual(repeated, 0)
                for (epoch, sample, use, _), row in expected.items():
                    label = int(row["label"])
                    rng = np.random.Generator(np.random.Philox(
                        key=[SEED, STEP], counter=[0, sample, epoch << 32 | (0 if share else use), 0]))
                    drawn = image(label) ^ rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
                    if "after" not in place:
                        np.testing.assert_array_equal(row["image"], drawn)
                    self.assertEqual(row["draw"], rng.random())
                    self.assertEqual(bytes(row["text"]).decode(), str(label)[::-1])
                    self.assertEqual(bytes(row["name"]).decode(), f"é{label}")
                (self.place / "marks" / "exit").unlink()
                together, (returned, repeated, log) = self.chunk_rows(chunk=8, workers=3, **place)
                self.check_same_rows(together, expected)
                self.assertGreater(repeated, 0)
                for text in ("for a chunk of", "label 7 of 12 is bad", "exit code 3"):
                    self.assertIn(text, log)
                # Two epochs, and what is ahead. What uses share is made once, also where two rows in flight need it.
                self.assertLess(returned, 2 * alone)

    def test_workers_ranks_and_a_resume_give_the_same_batches(self):
        out = self.NOISE.replace(", worker: {as: int64}", "")
        self.source.write_text(SOURCE.read_text().replace(',\n            "worker": os.getpid()', ""))
        with self.daemon("noise", out, workers=1, **{"echo": "echo: {factor: 2, window: 24}"}) as daemon:
            expected = self.rows(daemon, epochs=2)
            ranks = daemon.read_as_ranks(2, "--epochs", 2, "--row-checksums", "--job", "ranks")
            with echoline.Loader("train", runtime_dir=str(daemon.runtime_dir), job="first") as loader:
                for _ in range(5):
                    loader.next()
                state = loader.state_dict()
        options = {"echo": "echo: {factor: 2, window: 24}"}
        steps = stream_yaml([step.replace("workers: 2", "workers: 4") for step in self.steps("noise", out, **options)], seed=SEED)
        with Daemon(steps, workers=4, environment={"TEST_MARKS": str(self.place / "marks")}) as daemon:
            self.check_same_rows(self.rows(daemon, epochs=2), expected)
            self.assertEqual(daemon.read_as_ranks(2, "--epochs", 2, "--row-checksums", "--job", "ranks"), ranks)
            rest = self.rows(daemon, epochs=2, state=state)
            self.check_same_rows(dict(list(rest.items())), {key: expected[key] for key in list(expected)[40:]})
            # All uses of a record share the result of the function, which is called once.
            uses = collections.defaultdict(list)
            for (epoch, sample, *_), row in expected.items():
                uses[epoch, sample].append(row["draws"].tolist())
            for drawn in uses.values():
                self.assertTrue(all(one == drawn[0] for one in drawn))

    def test_faults_of_the_process_are_tried_once_more_and_change_no_row(self):
        self.write_records(3 * FAULTS)
        log = self.check_storm(3 * FAULTS, kinds=7, late=(2, 6), timeout="3s", memory="512MiB")
        marks = sorted(path.name for path in (self.place / "marks").iterdir())
        self.assertEqual(len(marks), FAULTS, marks)
        for text in ("Traceback (most recent call last):", "functions.py\", line", "raise ValueError(f\"no label {label}\")",
                     "wrote: about to", "field image is float32; `out` says uint8", "has the shape [3, 4, 3]", "SystemExit",
                     "MemoryError", "signal 11", "exit code 3", "took more than 3000 ms"):
            self.assertIn(text, log)
        kinds = 4 if 3 * FAULTS > 64 else 3  # label 64 has not enough memory in another line
        self.assertEqual(log.count("Traceback (most recent call last):"), kinds, "one of each kind")

    def test_a_sample_that_ends_or_blocks_each_worker_is_a_bad_record(self):
        with self.daemon("always", timeout="3s", memory="512MiB", metrics=True) as daemon:
            rows = self.rows(daemon)
            self.assertEqual({sample for (_, sample, *_), row in rows.items() if row["flags"] == 0},
                             set(range(RECORDS)) - {3, 4, 5, 6})
            # More in what is prepared of the next epoch.
            self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="died"), 2)
            self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="timeout"), 4)
            self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="raised"), 1)
            self.assertGreaterEqual(daemon.total("echoline_records_bad_total"), 4)
            self.assertLess(len(daemon.log()), 200_000, "an endless output is cut")

    def test_a_verdict_that_depends_on_time_is_kept_for_other_jobs_and_a_resume(self):
        trouble = self.place / "marks" / "trouble"
        trouble.touch()
        daemon = self.started(self.daemon("recovers", timeout="1s", metrics=True))
        expected = self.rows(daemon)
        self.assertEqual({sample for (_, sample, *_), row in expected.items() if row["flags"] == 0}, set(range(RECORDS)) - {0, 9})
        trouble.unlink()
        self.check_same_rows(self.rows(daemon, job="second"), expected)
        counted = daemon.total("echoline_python_verdicts_kept")
        self.assertGreaterEqual(counted, 2)
        kept = daemon.state_dir / "verdicts"
        os.kill(daemon.process.pid, signal.SIGKILL)
        daemon.process.wait()
        for number in range(70):  # of other pipelines, long ago
            (kept / f"train.{number}").mkdir()
            os.utime(kept / f"train.{number}", (number, number))
        daemon.start()
        self.assertEqual(len(list(kept.iterdir())), 64)
        self.assertEqual(daemon.total("echoline_python_verdicts_kept"), counted)
        rows = self.rows(daemon, epochs=3)
        self.check_same_rows({key: row for key, row in rows.items() if key[0] == 0}, expected)
        self.assertEqual({sample for (epoch, sample, *_) in rows if epoch == 2}, set(range(RECORDS)), "a later epoch tries them")
        for outcome in ("died", "timeout"):
            self.assertEqual(daemon.total("echoline_python_calls_total", outcome=outcome), 0)
        self.assertEqual(daemon.command("delete", "train").returncode, 0)
        self.assertEqual({folder.name for folder in kept.iterdir()}, {f"train.{number}" for number in range(7, 70)})

    def test_workers_end_with_a_daemon_that_is_killed(self):
        daemon = self.started(self.daemon("always", timeout="1min"))
        self.assertEqual(len(workers_of(self.source)), 2)
        os.kill(daemon.process.pid, signal.SIGKILL)
        wait_until(lambda: not workers_of(self.source), "the end of the workers, one of which hangs", seconds=20)
        daemon.process.wait()

    def test_a_stop_does_not_wait_for_a_function_that_hangs(self):
        daemon = self.started(self.daemon("always", timeout="1h"))
        wait_until(lambda: len(workers_of(self.source)) == 2, "the workers")
        daemon.check_orderly_stop(may_leave=["trainers.json"])

    def test_memory_of_freed_arrays_stays_in_the_worker(self):
        with self.daemon("page_faults", "worker: {as: int64}, faults: {as: int64}") as daemon:
            calls = collections.defaultdict(list)
            for row in self.rows(daemon).values():
                calls[int(row["worker"])].append(int(row["faults"]))
        # The first calls take the memory: 2,304 pages.
        self.assertTrue(any(len(of_one) > 4 for of_one in calls.values()), calls)
        for of_one in calls.values():
            self.assertLess(sum(sorted(of_one)[:len(of_one) // 2]), 100 * len(of_one), of_one)

    def test_a_worker_sees_no_secrets_and_no_descriptors_of_the_daemon(self):
        secret = {"AWS_SECRET_ACCESS_KEY": "hidden-1", "GOOGLE_APPLICATION_CREDENTIALS": "/hidden-2", "MY_TOKEN": "hidden-3"}
        with self.daemon("surroundings", "text: {as: uint8, max_length: 60000}", environment=secret) as daemon:
            for row in self.rows(daemon).values():
                text = bytes(row["text"]).decode()
                self.assertNotIn("hidden", text)
                self.assertNotIn("echoline-ring", text)
                self.assertIn("TEST_MARKS=", text)
                self.assertIn("stays read-only", text)
                self.assertIn("\nread-only", text)
                files = [line.split(" ", 1) for line in text.splitlines() if line[:1].isdigit() and " /" in line[:6]]
                self.assertTrue(all(int(number) < 16 for number, _ in files), files)
                self.assertNotIn("door.sock", text)

    @unittest.skipUnless(os.geteuid() == 0, "only root can start processes of other users")
    def test_workers_of_another_user_can_open_nothing_of_the_daemon(self):
        nobody = pwd.getpwnam("nobody")
        user, group = nobody.pw_uid, nobody.pw_gid
        expected = f"{(user,) * 3} {(group,) * 3} {os.getgrouplist('nobody', group)} {user} []"
        with tempfile.TemporaryDirectory() as modules:
            os.chmod(modules, 0o755)
            # Python runs this file when it starts.
            (pathlib.Path(modules) / "sitecustomize.py").write_text("import os\nSTARTED_AS = os.getuid()\n")
            with self.daemon("as_another_user", "text: {as: uint8, max_length: 60000}", user="nobody",
                             environment={"PYTHONPATH": modules}) as daemon:
                for row in self.rows(daemon).values():
                    self.assertEqual(bytes(row["text"]).decode(), expected)
        self.assertIn("there is no user nemo", self.refused(stream_yaml(self.steps(user="nemo"))))

    def test_pictures_of_any_size_and_steps_after_the_function(self):
        with self.daemon("halves", "image: {as: rgb}", after=["resize: {field: image, size: [8, 8]}"]) as daemon:
            rows = self.rows(daemon)
            self.assertEqual({row["image"].shape for row in rows.values()}, {(8, 8, 3)})

    def test_a_function_that_cannot_be_loaded_is_an_error_at_the_start(self):
        cases = [({"function": "nothing"}, "there is no function nothing in", "there are: always"),
                 ({"interpreter": "/no/python"}, "the program /no/python cannot be started", "No such file"),
                 ({"out": "image: {as: float33}"}, "'float33' is unknown", ""),
                 ({"out": "'a b': {as: uint8}"}, "is no field name", ""),
                 ({"out": ""}, "python.out: missing", ""),
                 ({"fields": "[picture]"}, "field \"picture\" does not exist", "image, label")]
        for settings, *texts in cases:
            with self.subTest(settings=settings):
                log = self.refused(stream_yaml(self.steps(**settings)))
                for text in texts:
                    self.assertIn(text, log)
        self.source.write_text("import numpy as np\n\ndef noise(sample, rng)\n    return {}\n")
        log = self.refused(stream_yaml(self.steps()))
        self.assertIn("SyntaxError", log)
        self.assertIn("line 3", log)
        self.source.unlink()
        self.assertIn("python.file", self.refused(stream_yaml(self.steps())))

    def test_a_changed_file_is_another_fingerprint_and_does_not_reach_running_streams(self):
        with self.daemon("same") as daemon:
            with echoline.Loader("train", runtime_dir=str(daemon.runtime_dir)) as loader:
                before = loader.fingerprint
            for pid in workers_of(self.source):
                os.kill(pid, signal.SIGKILL)
            self.source.write_text("this is no Python\n")
            rows = self.rows(daemon, epochs=2, job="second")
            good = {key for key in rows if rows[key]["flags"] == 0}
            missing = {(epoch, sample, 0, 0) for epoch in range(2) for sample in range(RECORDS)} - good
            # Each of the two running calls may have been in both killed processes, one after the other.
            self.assertLessEqual(len(missing), 2, missing)
        self.source.write_text(SOURCE.read_text() + "\n# changed\n")
        with self.daemon("same") as daemon, echoline.Loader("train", runtime_dir=str(daemon.runtime_dir)) as loader:
            self.assertNotEqual(loader.fingerprint, before)

    def test_the_fingerprint_has_the_versions_of_the_interpreter_where_it_is_asked_to(self):
        other = self.place / "python"
        other.write_text(f"#!/bin/sh\nexec {PYTHON} -c \"import sys; sys.version = '3.99.0 ' + sys.version; $4\" \"$5\" \"$6\"\n")
        other.chmod(0o755)
        fingerprints = []
        for version in ("2", "'2 {versions}'"):
            for interpreter in (PYTHON, other):
                with self.daemon("same", version=version, interpreter=interpreter) as daemon, \
                        echoline.Loader("train", runtime_dir=str(daemon.runtime_dir)) as loader:
                    fingerprints.append(loader.fingerprint)
        self.assertEqual(fingerprints[0], fingerprints[1])
        self.assertEqual(len(set(fingerprints)), 3)

    def test_operators_cannot_run_code_over_the_control_service(self):
        yaml = stream_yaml(self.steps("same"), name="other")
        file = self.place / "other.yaml"
        file.write_text("streams:\n" + yaml)
        plain = stream_yaml([step for step in self.steps() if not step.startswith("python")])
        daemon = self.started(Daemon(plain, control="operators: [nobody]"))
        refused = daemon.command("create", file)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("daemon.control.python", refused.stderr)
        daemon = self.started(Daemon(plain))
        self.assertEqual(daemon.command("create", file).returncode, 0)
        self.assertEqual(daemon.command("delete", "other").returncode, 0)
        wait_until(lambda: not workers_of(self.source), "the end of the workers of a deleted stream")

    def test_check_calls_the_function_twice(self):
        config = self.place / "config.yaml"
        for function, code, text, more in (
                ("noise", 0, "python: noise of", {}), ("forgetful", 1, "returned something else", {}),
                ("spoilt", 1, "depends on the other samples of its chunk: field image differs", {"batched": "true"}),
                ("only_alone", 1, "depends on the other samples of its chunk: no result in a chunk", {"batched": "true"})):
            out = self.NOISE.replace(", worker: {as: int64}", "") if function == "noise" else "image: {}"
            if function == "noise":
                self.source.write_text(SOURCE.read_text().replace(',\n            "worker": os.getpid()', ""))
            config.write_text(f"daemon: {{state_dir: {self.place}/state}}\nstreams:\n" +
                              stream_yaml(self.steps(function, out, **more)))
            self.assertEqual(run_echoline("index", config).returncode, 0)
            checked = run_echoline("check", config)
            self.assertEqual(checked.returncode, code, checked.stdout + checked.stderr)
            self.assertIn(text, checked.stdout + checked.stderr)


    def test_threads_of_one_process_give_the_rows_of_processes(self):
        """Where the interpreter has no GIL; else workers are processes. A call that takes others' process with it decides
        nothing about their samples."""
        out = "image: {}, process: {as: int64}, thread: {as: int64}"
        found = []
        for interpreter in filter(None, (PYTHON, THREADED)):
            for mark in ("hang", "exit"):
                (self.place / "marks" / mark).unlink(missing_ok=True)
            with self.daemon("here", out, workers=4, threads="true", interpreter=interpreter, timeout="1s", metrics=True) as daemon:
                rows = self.rows(daemon)
                processes = {int(row["process"]) for row in rows.values()}
                at_work = {int(row["thread"]) for row in rows.values()}
                self.assertEqual({sample for (_, sample, *_), row in rows.items() if row["flags"] == 0},
                                 set(range(RECORDS)) - {4, 5, 7})
                self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="died"), 2)
                self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="timeout"), 2)
                self.assertEqual("so workers are processes" in daemon.log(), interpreter == PYTHON)
                self.assertEqual(processes == at_work, interpreter == PYTHON, "one thread for each process")
            for row in rows.values():
                del row["process"], row["thread"]
            found.append(rows)
        for rows in found[1:]:
            self.check_same_rows(rows, found[0])


class PythonDataSet(PythonCase):
    OUT = ("image: {as: uint8, shape: [4, 4, 3]}, label: {as: int64}, draws: {as: float64, shape: [2]}, "
           "text: {as: uint8, max_length: 20}")
    ECHO = "echo: {factor: 2, window: 24}"

    def steps(self, function="Numbers", more="", echo="", processes=2, **settings):
        settings = {"workers": processes, "timeout": "5s", "interpreter": PYTHON, "environment": "[TEST_MARKS]",
                    "names": "[image, label, draws, text]", "out": f"{{{self.OUT}}}", **settings}
        keys = "".join(f", {key}: {value}" for key, value in settings.items())
        return [f"read: {{python: {{file: {self.source}, function: {function}{keys}}}{more}}}", "shuffle: {window: all}",
                echo, "batch: {size: 8, last: partial}", "publish: {slots: 4}"]

    def test_workers_their_end_and_a_resume_give_the_same_batches(self):
        with self.daemon(echo=self.ECHO, processes=1, workers=1, metrics=True) as daemon:
            expected = self.rows(daemon, epochs=2)
            self.assertLess(daemon.total("echoline_python_calls_total", outcome="returned"), 3.5 * RECORDS,
                            "two epochs, and what is ahead: an echoed sample is made once")
            with echoline.Loader("train", runtime_dir=str(daemon.runtime_dir), job="first") as loader:
                for _ in range(5):
                    loader.next()
                state = loader.state_dict()
        self.assertEqual({key[:3] for key in expected},
                         {(epoch, sample, use) for epoch in range(2) for sample in range(RECORDS) for use in range(2)})
        order = random.Random(0).sample(range(RECORDS), RECORDS)
        draws = {}
        for (epoch, sample, *_), row in expected.items():
            np.testing.assert_array_equal(row["image"], np.full((4, 4, 3), sample, np.uint8))
            self.assertEqual(int(row["label"]), order[sample])
            self.assertEqual(bytes(row["text"]).decode(), f"number {sample} é")
            self.assertEqual(draws.setdefault((epoch, sample), row["draws"].tolist()), row["draws"].tolist())
        self.assertEqual(len({one for pair in draws.values() for one in pair}), 4 * RECORDS, "each sample has its own draws")
        with self.daemon(echo=self.ECHO, processes=4, workers=4) as daemon:
            os.kill(workers_of(self.source)[0], signal.SIGKILL)  # one: a sample may lose its worker once
            self.check_same_rows(self.rows(daemon, epochs=2), expected)
            rest = self.rows(daemon, epochs=2, state=state)
            self.check_same_rows(rest, {key: expected[key] for key in list(expected)[40:]})

    def test_exceptions_hangs_and_deaths_are_those_of_the_step(self):
        with self.daemon("Faulty", timeout="3s", metrics=True) as daemon:
            rows = self.rows(daemon)
            self.assertEqual({sample for (_, sample, *_), row in rows.items() if row["flags"] == 0},
                             set(range(RECORDS)) - {1, 4, 5, 9})
            self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="timeout"), 1)
            self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="died"), 3)
            log = daemon.log()
        for text in ("KeyError: 'nothing here'", "functions.py\", line", "raise KeyError(\"nothing here\")", "exit code 3",
                     "the sample has 2 elements, and `names` has 4 names", "took more than 3000 ms"):
            self.assertIn(text, log)
        self.assertEqual(log.count("Traceback (most recent call last):"), 1, "two samples fail in the same way")

    def test_a_data_set_that_is_asked_for_several_at_a_time_gives_the_same_batches(self):
        rows = {}
        for function, chunk in (("Several", 1), ("Several", 8)):
            (self.place / "marks" / "exit").unlink(missing_ok=True)
            with self.subTest(function, chunk=chunk), self.daemon(function, batched="true", chunk=chunk, metrics=True) as daemon:
                rows[function, chunk] = self.rows(daemon)
                if chunk == 8:
                    self.assertGreater(daemon.total("echoline_python_chunks_repeated_total"), 0)
                    for text in ("KeyError: 'nothing here'", "for a chunk of", "exit code 3"):
                        self.assertIn(text, daemon.log())
        several = rows["Several", 8]
        self.assertEqual({sample for (_, sample, *_), row in several.items() if row["flags"] == 0}, set(range(RECORDS)) - {9})
        self.assertGreater(max(row["draws"][0] for row in several.values()), 1, "there are chunks")
        for row in (*several.values(), *rows["Several", 1].values()):
            del row["draws"]
        self.check_same_rows(rows["Several", 1], several)
        for function, message in (("TooFew", "__getitems__ returned 0 samples for 1 numbers"),
                                  ("Generated", "__getitems__ returned generator; it has to return a list of samples"),
                                  ("Numbers", "the data set is Numbers, which has no __getitems__; `batched` needs it")):
            self.assertIn(message, self.refused(stream_yaml(self.steps(function, batched="true"))))

    def test_a_data_set_that_changes_its_length_ends_the_stream(self):
        length = self.place / "marks" / "length"
        length.write_text("48")
        with self.daemon("written_length", workers=1) as daemon:
            length.write_text("47")
            for pid in workers_of(self.source):
                os.kill(pid, signal.SIGKILL)
            with self.assertRaisesRegex(echoline.Error, "has 47 samples in it, and had 48 when the stream was opened"):
                self.rows(daemon, epochs=3)

    def test_check_names_what_is_wrong_with_a_data_set(self):
        config = self.place / "config.yaml"
        for function, text, settings in (
                ("broken", "RuntimeError: no disk", {}), ("negative", "ValueError", {}), ("stream", "has no __len__", {}),
                ("empty", "the data set has no samples", {}), ("endless", "more than 4294967296", {}),
                ("Numbers", "has to name the elements of a tuple", {"names": "[]"}),
                ("Numbers", "python.out: field label: needs `as`", {"out": "{label: {}}"}),
                ("Unlabelled", "field label is None; `out` says int64", {}),
                ("Halves", ".5, which int64 can't hold", {}), ("Number", "there are: Faulty, Generated, Halves, Numbers", {}),
                ("Numbers", "the result lacks other", {"out": "{other: {as: int64}}"})):
            with self.subTest(function=function, settings=settings):
                config.write_text(f"daemon: {{state_dir: {self.place}/state}}\nstreams:\n" +
                                  stream_yaml(self.steps(function, processes=1, **settings)))
                checked = run_echoline("check", config)
                self.assertEqual(checked.returncode, 1, checked.stdout)
                self.assertIn(text, checked.stderr)

    def test_check_counts_a_bad_sample_that_only_its_second_calls_met(self):
        self.source.write_text("class Some:\n    def __len__(self):\n        return 20000\n\n    def __getitem__(self, index):\n"
                               "        assert index != 3, 'bad luck'\n        return {'x': index}\n")
        config = self.place / "config.yaml"
        config.write_text(f"daemon: {{state_dir: {self.place}/state}}\nstreams:\n" +
                          stream_yaml(self.steps("Some", processes=1, out="{x: {as: int64}}", names="[]")))
        checked = run_echoline("check", config)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertRegex(checked.stdout, r"records tried: 2\d, bad: 1\n    sample 3 \(key python:3\): .*bad luck")

    def test_commands_a_part_of_the_samples_and_who_may_run_it(self):
        steps = self.steps(more=", split: {to: 50%}, limit: 10")
        config = self.place / "config.yaml"
        config.write_text(f"daemon: {{state_dir: {self.place}/state}}\nstreams:\n" + stream_yaml(steps, name="other"))
        indexed = run_echoline("index", config)
        self.assertEqual((indexed.returncode, indexed.stdout), (0, "other: a data set in Python, which needs no index\n"))
        checked = run_echoline("check", config)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertIn("python: Numbers of", checked.stdout)
        self.assertIn("epoch: 10 records", checked.stdout)
        with self.daemon(more=", split: {to: 50%}, limit: 10") as daemon:
            rows = self.rows(daemon)
            numbers = [int(row["image"][0, 0, 0]) for _, row in sorted(rows.items())]
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertEqual(len(numbers), 10)
            self.assertNotEqual(numbers, list(range(10)), "half of the samples are left out")
            self.assertIn("train", daemon.command("list").stdout)
            self.assertIn("10 records", daemon.command("show", "train").stdout)
            self.assertIn(f"python:{numbers[0]}", daemon.command("show", "train", "--step", "0", "--keys").stdout)
            self.assertEqual(daemon.command("create", config).returncode, 0)
        daemon = self.started(Daemon(stream_yaml(self.steps()), control="operators: [nobody]"))
        refused = daemon.command("create", config)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("daemon.control.python", refused.stderr)


if __name__ == "__main__":
    main()
