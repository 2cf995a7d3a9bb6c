#!/usr/bin/env python3
"""The step `plugin`: libraries in C, compiled here, in processes of their own. They give the same batches with any number of
workers; libraries, steps and results that are wrong are named; crashes and hangs cost a process and nothing else."""
import collections
import os
import pathlib
import shutil
import socket
import subprocess
import unittest

import numpy as np

from support.daemon_process import Daemon, stream_yaml
from support.process_case import main
from support.programs import run_echoline
from support.tars import write_tar
from support.user_code_case import UserCodeCase, workers_of

import echoline

RECORDS = 48
ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_PLUGIN = ROOT / "tests/process/support/test_plugin.c"
EXAMPLE = ROOT / "client/examples/plugin/salt_and_pepper.c"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def image(label):
    return np.random.default_rng(label).integers(0, 256, (16, 16, 3), dtype=np.uint8)


def compile_plugin(source, library, *flags):
    """Compiles it next to the library and puts it in its place, as an installation does."""
    subprocess.run([COMPILER, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT}/proto", *flags,
                    source, "-o", f"{library}.new"], check=True)
    os.replace(f"{library}.new", library)


@unittest.skipIf(COMPILER is None, "needs a C compiler")
class PluginStep(UserCodeCase):
    def setUp(self):
        super().setUp()
        self.source = self.place / "libtest.so"
        compile_plugin(TEST_PLUGIN, self.source)
        write_tar(self.place / "set.tar", [(f"{label:03d}.{suffix}", content) for label in range(RECORDS) for
                                           suffix, content in (("u8", image(label).tobytes()), ("cls", str(label).encode()))])

    def steps(self, step="noise", echo="", after=(), library=None, **settings):
        settings = {"workers": 2, "timeout": "2s", "environment": "[TEST_MARKS]", **settings}
        more = "".join(f", {key}: {value}" for key, value in settings.items())
        return [f"read: {{url: '{self.place}/set.tar'}}", "shuffle: {window: 16}",
                "decode: {image: {key: u8, as: uint8, shape: [16, 16, 3]}, label: {key: cls, as: int64}}",
                f"plugin: {{library: {library or self.source}, step: {step}{more}}}", echo, *after,
                "batch: {size: 8, last: partial}", "publish: {slots: 4}"]

    def test_a_step_gets_its_settings_and_a_key_and_each_worker_has_an_instance(self):
        with self.daemon("noise", settings="{worker: 1}", metrics=True) as daemon:
            rows = self.rows(daemon, epochs=2)
            self.assertEqual(len(rows), 2 * RECORDS)
            for (epoch, sample, use, _), row in rows.items():
                label = int(row["label"])
                self.assertEqual(row["key"][:5].tolist(), [self.SEED, sample, epoch, use, 2])
                np.testing.assert_array_equal(row["image"], image(label) ^ np.uint8(int(row["key"][5]) & 0xff))
                self.assertEqual(row["short"].tolist(), [-n for n in range(label % 5 * 20)])
                self.assertEqual(row["boxes"].tolist(), np.arange(4 * (label % 3)).reshape(-1, 4).tolist())
            self.assertEqual(len({int(row["key"][5]) for row in rows.values()}), len(rows))
            workers = {int(row["worker"]) for row in rows.values()}
            self.assertEqual(workers, set(workers_of(self.source)))
            self.assertEqual(len(workers), 2)
            self.assertGreaterEqual(daemon.total("echoline_python_calls_total", outcome="returned"), 2 * RECORDS)
        self.assertEqual({path.name for path in (self.place / "marks").iterdir()},
                         {f"destroyed-{worker}" for worker in workers}, "destroy is called when the daemon ends")

    def test_workers_ranks_and_a_resume_give_the_same_batches(self):
        echo = {"echo": "echo: {factor: 2, window: 24}"}
        with self.daemon("noise", workers=1, **echo) as daemon:
            expected = self.rows(daemon, epochs=2)
            ranks = daemon.read_as_ranks(2, "--epochs", 2, "--row-checksums", "--job", "ranks")
            with echoline.Loader("train", runtime_dir=str(daemon.runtime_dir), job="first") as loader:
                for _ in range(5):
                    loader.next()
                state = loader.state_dict()
        steps = [step.replace("workers: 2", "workers: 4") for step in self.steps("noise", **echo)]
        with Daemon(stream_yaml(steps, seed=self.SEED), workers=4) as daemon:
            self.check_same_rows(self.rows(daemon, epochs=2), expected)
            self.assertEqual(daemon.read_as_ranks(2, "--epochs", 2, "--row-checksums", "--job", "ranks"), ranks)
            rest = self.rows(daemon, epochs=2, state=state)
            self.check_same_rows(rest, {key: expected[key] for key in list(expected)[40:]})
            uses = collections.defaultdict(set)
            for (epoch, sample, *_), row in expected.items():
                uses[epoch, sample].add(int(row["key"][5]))
            self.assertEqual({len(drawn) for drawn in uses.values()}, {1}, "uses share the result")

    def test_faults_of_the_process_are_tried_once_more_and_change_no_row(self):
        log = self.check_storm(RECORDS, kinds=8, late=(2,))
        for text in ("signal 11", "signal 6", "signal 9", "exit code 3", "took more than 2000 ms", "wrote: about to do fault",
                     "the plugin is broken: the decoder has lost its state", "the plugin crashed; its stack:", "libtest.so",
                     "there is no such label", "has the shape [3, 4, 3]; described was uint8 [16, 16, 3]",
                     "run did not make the field image", "unknown status 77", "made the field image twice",
                     "sent a message of"):
            self.assertIn(text, log)

    def test_pictures_of_any_size_and_fields_that_stay_as_they_are(self):
        with self.daemon("halves", after=["resize: {field: image, size: [8, 8]}"]) as daemon:
            self.assertEqual({row["image"].shape for row in self.rows(daemon).values()}, {(8, 8, 3)})
        with self.daemon("same", fields="[label, image]") as daemon:
            for row in self.rows(daemon).values():
                np.testing.assert_array_equal(row["image"], image(int(row["label"])))

    def test_the_example_of_the_documentation_changes_about_the_share_that_its_settings_say(self):
        example = self.source = self.place / "libsalt_and_pepper.so"
        compile_plugin(EXAMPLE, example)
        with self.daemon("salt_and_pepper", fields="[image]", settings="{share: 0.25}") as daemon:
            rows = self.rows(daemon)
        for row in rows.values():
            changed = (row["image"] != image(int(row["label"]))).any(axis=2)
            self.assertLessEqual(changed.sum(), int(row["changed"]))
        self.assertAlmostEqual(sum(int(row["changed"]) for row in rows.values()) / (256 * len(rows)), 0.25, delta=0.03)
        for settings, text in (("{shares: 1}", "only `share` is known"), ("[1]", "is no mapping; write its keys and values"),
                               ("{share: 2}", "a number from 0 to 1")):
            self.assertIn(text, self.refused(stream_yaml(self.steps("salt_and_pepper", fields="[image]", settings=settings))))

    def test_a_library_or_a_step_that_cannot_be_used_is_an_error_at_the_start(self):
        other_version, text_file = self.place / "libother.so", self.place / "text.so"
        compile_plugin(TEST_PLUGIN, other_version, "-DTEST_VERSION=9")
        text_file.write_text("no library")
        no_plugin = self.place / "libempty.so"
        (self.place / "empty.c").write_text("int nothing;\n")
        compile_plugin(self.place / "empty.c", no_plugin)
        cases = [({"library": self.place / "none.so"}, "plugin.library", "none.so"),
                 ({"library": self.place}, "plugin.library", "not a file"),
                 ({"library": text_file}, "the library cannot be loaded", "text.so"),
                 ({"library": no_plugin}, "it does not export echoline_plugin_get", "libempty.so"),
                 ({"library": other_version}, "has version 9 of the interface, and this Echoline version 1", "build it with"),
                 ({"step": "nois"}, "there is no step nois in the library", "there are: noise, same"),
                 ({"step": "unfinished"}, "lacks describe, create or run", "unfinished"),
                 ({"step": "refuses", "settings": "{a: [1, x, {b: null}], c: 'true'}"},
                  'the settings {"a":[1,"x",{"b":null}],"c":"true"} are not for me', "plugin: refuses of"),
                 ({"step": "nothing"}, "describe added no output", ""),
                 ({"step": "endless"}, "field rows cannot be float32 [-1, 7] with max_length 0", "allowed are"),
                 ({"step": "large"}, "needs more than sample_bytes", "field rows"),
                 ({"step": "crashes"}, "was ended by signal 11", "the plugin crashed"),
                 ({"fields": "[picture]"}, "plugin.fields: field \"picture\" does not exist", "image, label"),
                 ({"user": "nemo"}, "plugin.user", "nemo" if os.geteuid() == 0 else "root")]
        for settings, *texts in cases:
            with self.subTest(settings=settings):
                log = self.refused(stream_yaml(self.steps(**settings)))
                for text in texts:
                    self.assertIn(text, log)
        self.assertIn("describe gives other outputs",
                      self.refused(stream_yaml(self.steps("changing")), environment={"TEST_MARKS": str(self.place / "marks")}))

    def test_a_new_library_is_another_fingerprint_and_does_not_reach_running_streams(self):
        with self.daemon("storm") as daemon:
            with echoline.Loader("train", runtime_dir=str(daemon.runtime_dir)) as loader:
                loader.next()
                state = loader.state_dict()
            old = self.rows(daemon)
            compile_plugin(TEST_PLUGIN, self.source, "-DTEST_ADDED=5")
            shutil.rmtree(self.place / "marks")
            (self.place / "marks").mkdir()  # all workers are lost, and replaced
            self.check_same_rows(self.rows(daemon, job="later"), old)
        with self.daemon("storm") as daemon:
            new = self.rows(daemon)
            self.assertTrue(all((new[key]["image"] != row["image"]).any() for key, row in old.items()))
            with self.assertRaisesRegex(echoline.Error, "another pipeline"):
                echoline.Loader("train", runtime_dir=str(daemon.runtime_dir), state=state)
            # The same file with other bytes: nobody knows what workers would load.
            with open(self.source, "r+b") as library:
                library.write(b"overwritten")
            for pid in workers_of(self.source):
                os.kill(pid, 9)
            with self.assertRaisesRegex(echoline.Error, "was overwritten since the stream was opened"):
                self.rows(daemon, epochs=4, job="last")

    def test_a_runner_of_another_release_says_that_the_daemon_has_to_be_restarted(self):
        """As after an upgrade of the package below a daemon that runs."""
        runner = pathlib.Path(os.environ["ECHOLINED"]).with_name("echoline-plugin-runner")
        for release in ("", '"version": "0.0.1"'):
            daemon, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            settings = self.place / "settings"
            settings.write_text(f"{{{release}}}")
            alive, life = os.pipe()
            with open(settings, "rb") as file, daemon, other:
                files = [(os.POSIX_SPAWN_DUP2, number, to) for number, to in ((other.fileno(), 33), (alive, 37), (file.fileno(), 38))]
                files += [(os.POSIX_SPAWN_DUP2, to, to - 30) for _, _, to in files]
                pid = os.posix_spawn(runner, [runner], os.environ, file_actions=files, setpgroup=0)
                said = daemon.recv(65536)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1)
            os.close(alive)
            os.close(life)
            self.assertIn(b"restart the daemon after an upgrade", said)
            self.assertIn(b"0.0.1" if release else b"an older version", said)

    def test_commands_and_who_may_run_it(self):
        config = self.place / "config.yaml"
        config.write_text(f"daemon: {{state_dir: {self.place}/state}}\nstreams:\n" +
                          stream_yaml(self.steps(library="libtest.so", workers=1), name="other"))
        self.assertEqual(run_echoline("index", config).returncode, 0)
        checked = run_echoline("check", config, cwd=self.place)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertIn("plugin: noise of", checked.stdout)
        self.assertIn("test plugin 3", checked.stdout)
        config.write_text(f"daemon: {{state_dir: {self.place}/state}}\nstreams:\n" + stream_yaml(self.steps("counts", workers=1)))
        checked = run_echoline("check", config)
        self.assertIn("plugin.step: it returned something else when it was called again", checked.stderr)
        daemon = self.started(Daemon(stream_yaml(self.steps("same")), control="operators: [nobody]"))
        refused = daemon.command("create", config)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("daemon.control.python", refused.stderr)


if __name__ == "__main__":
    main()
