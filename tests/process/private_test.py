#!/usr/bin/env python3
"""Loaders that bring a configuration: a private daemon starts for them, is shared by all processes of the user with the
same configuration, comes back after a crash, and ends when nobody has used it for a while."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import unittest
import unittest.mock

from support.private_daemons import private_daemons
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, binary, require_library, run_echoline, wait_until
from support.tars import write_tar

require_library()
os.environ["ECHOLINE_DAEMON"] = binary("ECHOLINED")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "client" / "python"))
import echoline  # noqa: E402  (the environment says which programs it uses)

# Reads batches of one job: {"rank": 0, ...} are arguments of the loader. Prints the labels of each batch in a line.
TRAINER = """
import json, sys, echoline
config, arguments, pause = json.loads(sys.argv[1])
loader = echoline.Loader(config, **arguments)
print(loader.runtime_dir, flush=True)
for batch in loader:
    print(json.dumps([int(label) for label in batch["label"]]), flush=True)
    if pause:
        sys.stdin.readline()
"""
RECORDS = 48


class Private(ProcessCase):
    def setUp(self):
        super().setUp()
        self.place = self.folder()
        self.write_data(range(RECORDS))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.place)  # processes share a daemon if their working folder is the same
        os.environ["ECHOLINE_PRIVATE_DIR"] = str(self.place / "private")
        self.addCleanup(os.environ.pop, "ECHOLINE_PRIVATE_DIR")
        # The folder's removal comes after this.
        self.addCleanup(self.await_ends)

    def write_data(self, labels):
        write_tar(self.place / "set-0.tar", [(f"{label:03d}.{suffix}", content) for label in labels for suffix, content in
                                             (("u8", bytes([label] * 6)), ("cls", str(label).encode()))])

    def daemons(self):
        """The processes of all private daemons of this test."""
        return private_daemons(self.place / "private")

    def await_ends(self):
        """Daemons end by themselves."""
        wait_until(lambda: not self.daemons(), lambda: f"still there: {self.daemons()}")

    def steps(self, batch=12, **more):
        steps = echoline.steps
        return [steps.read(self.place / "set-*.tar", format="webdataset"), steps.shuffle(window=16),
                steps.decode(image={"key": "u8", "as": "uint8", "shape": (2, 3)}, label={"key": "cls", "as": "int64"}),
                steps.batch(batch, **more)]

    def configuration(self, **batch):
        """Of a daemon that ends soon."""
        return {"daemon": {"exit_when_idle": "1s", "memory": "256MiB"}, "streams": {"train": {"pipeline": self.steps(**batch)}}}

    def process(self, config, pause=False, **arguments):
        text = json.dumps([config, arguments, pause], default=str)
        process = subprocess.Popen([sys.executable, "-c", TRAINER, text], cwd=self.place, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    @staticmethod
    def epoch(loader):
        return [int(label) for batch in loader for label in batch["label"]]

    # ---- sharing ----

    def test_ranks_that_start_at_the_same_time_share_one_daemon_which_ends_after_them(self):
        config = self.configuration()
        ranks = [self.process(config, rank=rank, world_size=4) for rank in range(4)]
        said = [rank.communicate(timeout=PATIENCE) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0] * 4, said)
        lines = [out.splitlines() for out, _ in said]
        folder, = {each[0] for each in lines}
        self.assertEqual("".join(errors for _, errors in said), "echoline: started a private daemon for train; its log is "
                         f"{folder}/daemon.log; to watch it: echoline top --runtime-dir {folder}\n")
        self.assertEqual(sorted(label for each in lines for line in each[1:] for label in json.loads(line)),
                         list(range(RECORDS)))
        self.await_ends()
        log = pathlib.Path(folder, "daemon.log").read_text(encoding="utf-8")
        self.assertEqual(log.count("ready: 1 stream"), 1, log)
        self.assertIn("metrics at off", log)
        self.assertIn("stopping: no trainer for 1s (daemon.exit_when_idle)", log)

    def test_other_configurations_have_other_daemons_and_a_file_and_a_forked_child_find_the_same(self):
        path = self.place / "pipeline.yaml"
        path.write_text(json.dumps(self.configuration(), default=str), encoding="utf-8")
        with echoline.Loader(path, "train") as one, echoline.Loader(self.configuration(batch=6), "train") as other:
            self.assertEqual(len(self.daemons()), 2)
            self.assertNotEqual(one.runtime_dir, other.runtime_dir)
            self.assertEqual((one.batch_size, other.batch_size), (12, 6))
            child = os.fork()
            if child == 0:
                with echoline.Loader(str(path), "train", job="child") as mine:
                    os._exit(mine.runtime_dir != one.runtime_dir or sorted(self.epoch(mine)) != list(range(RECORDS)))
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(sorted(self.epoch(one)), sorted(self.epoch(other)))
            self.assertEqual(len(self.daemons()), 2)

    def test_a_bad_record_is_told_with_the_path_of_the_log_and_commands_name_the_daemon(self):
        write_tar(self.place / "set-1.tar", [("bad.u8", b"short"), ("bad.cls", b"99")])
        with self.assertLogs("echoline") as logs, echoline.Loader(self.configuration(), "train") as loader:
            wait_until(lambda: loader.next() and logs.output, "the warning")
            self.assertRegex(logs.output[0], r"stream train: bad record, replaced: sample \d+ \(key bad\) .*; the daemon's log names "
                                             f"each bad record; the log of its daemon is {loader.runtime_dir}/daemon.log$")
            said = f"1 private daemon of this user runs; to look at one, add --runtime-dir {loader.runtime_dir}\n"
            missing = run_echoline("top", "--count", 1, environment={**os.environ, "ECHOLINE_RUNTIME_DIR": str(self.place)})
            self.assertRegex(missing.stderr, f"no daemon answers at {self.place}/control.sock; .*; {said}$")
            with echoline.serve(self.steps(), {"daemon.metrics": "off", "daemon.state_dir": self.place / "state"}) as other:
                for command in (("list",), ("top", "--count", 1)):
                    environment = {**os.environ, "ECHOLINE_RUNTIME_DIR": other.runtime_dir}
                    self.assertEqual(run_echoline(*command, environment=environment).stderr, said)
                    self.assertEqual(run_echoline(*command, "--json", environment=environment).stderr, "")
                self.assertEqual(run_echoline("list", "--runtime-dir", loader.runtime_dir).stderr, "")
            self.assertEqual(len(logs.output), 1)

    def test_a_private_daemon_that_hangs_is_named_safely_and_another_users_folder_not_at_all(self):
        base = self.place / "private"
        hanging = base / "a\x1b[31m"
        hanging.mkdir(parents=True)
        base.chmod(0o700)
        backlog = []
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(hanging / "control.sock"))
            listening.listen(0)
            for _ in range(3):  # the backlog is full
                backlog.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
                backlog[-1].connect_ex(str(hanging / "control.sock"))
            environment = {**os.environ, "ECHOLINE_RUNTIME_DIR": str(self.place)}
            said = run_echoline("list", environment=environment).stderr
            self.assertIn("1 private daemon of this user runs", said)
            self.assertNotIn("\x1b", said)
            base.chmod(0o722)  # others may have made what is in it
            self.assertNotIn("private daemon", run_echoline("list", environment=environment).stderr)
        for one in backlog:
            one.close()

    # ---- failures ----

    def test_the_daemon_outlives_the_process_that_started_it(self):
        first = self.process(self.configuration(), pause=True)
        first.stdout.readline()
        with echoline.Loader(self.configuration(), "train", job="second") as loader:
            first.kill()
            self.assertEqual(len(self.daemons()), 1)
            self.assertEqual(sorted(self.epoch(loader)), list(range(RECORDS)))

    def test_after_a_crash_of_the_daemon_trainers_continue_with_the_next_batch(self):
        config = self.configuration(batch=2)  # more batches than the ring has slots
        with echoline.Loader(config, "train", job="whole") as whole:
            expected = self.epoch(whole)
        with self.assertLogs("echoline") as logs, echoline.Loader(config, "train") as loader:
            batches = iter(loader)
            found = [int(label) for label in next(batches)["label"]]
            before, = self.daemons()
            os.kill(before, signal.SIGKILL)
            found += [int(label) for batch in batches for label in batch["label"]]
            self.assertEqual(found, expected)
            after, = self.daemons()
            self.assertNotEqual(before, after)
        self.assertIn("starting it again; its log is " + loader.runtime_dir, logs.output[0])
        # A loader may come while the killed daemon is still closing its sockets, whose files it leaves behind.
        for _ in range(10):
            daemon, = self.daemons()
            os.kill(daemon, signal.SIGKILL)
            with echoline.Loader(config, "train") as loader:
                self.assertEqual(self.epoch(loader), expected)

    def test_a_daemon_that_crashes_too_often_is_given_up_with_a_message(self):
        with unittest.mock.patch("echoline._guard._RESTARTS_MAX", 0), self.assertLogs("echoline", "ERROR") as logs:
            with echoline.Loader(self.configuration(batch=2), "train", reattach="1500ms") as loader:
                daemon, = self.daemons()
                os.kill(daemon, signal.SIGKILL)
                with self.assertRaises(echoline.DaemonGone):
                    self.epoch(loader)
        self.assertRegex(logs.output[0], "ended again after 0 restarts and is not started any more: loaders wait .*; its log is "
                                         f"{loader.runtime_dir}/daemon.log")

    def test_data_that_changed_between_two_runs_are_indexed_again(self):
        config = self.configuration()
        config["daemon"]["exit_when_idle"] = "30s"
        for labels in (range(RECORDS), range(100, 100 + 2 * RECORDS), range(50, 50 + RECORDS)):
            self.write_data(labels)
            with echoline.Loader(config, "train") as loader:
                self.assertEqual(sorted(self.epoch(loader)), list(labels))
        daemon, = self.daemons()
        os.kill(daemon, signal.SIGTERM)

    def test_code_that_was_edited_runs_at_once(self):
        code = self.place / "numbers set.py"  # a space, as folders often have
        for factor in (1, 2):
            code.write_text(f"class Numbers:\n    def __len__(self):\n        return 4\n\n    def __getitem__(self, index):\n"
                            f"        return {{'x': {factor} * index}}\n")
            data_set = {"file": str(code), "function": "Numbers", "out": {"x": {"as": "int64"}}, "workers": 1}
            config = {"daemon": {"exit_when_idle": "1s", "memory": "256MiB"},
                      "streams": {"train": {"pipeline": [echoline.steps.read(python=data_set), echoline.steps.batch(2)]}}}
            with echoline.Loader(config, "train") as loader:
                self.assertEqual([int(x) for batch in loader for x in batch["x"]], [0, factor, 2 * factor, 3 * factor])

    def test_a_stream_that_failed_is_opened_again_by_the_next_loader_when_its_cause_is_repaired(self):
        (self.place / "helper.py").write_text("def value(index):\n    raise ValueError('broken')\n")
        code = self.place / "numbers.py"
        code.write_text("class Numbers:\n    def __len__(self):\n        return 4\n\n    def __getitem__(self, index):\n"
                        "        import helper\n        return {'x': helper.value(index)}\n")
        data_set = {"file": str(code), "function": "Numbers", "out": {"x": {"as": "int64"}}, "workers": 1}
        config = {"daemon": {"exit_when_idle": "30s", "memory": "256MiB"},
                  "streams": {"train": {"pipeline": [echoline.steps.read(python=data_set), echoline.steps.batch(2)]}}}
        with self.assertRaisesRegex(echoline.Error, "ValueError: broken"), echoline.Loader(config, "train") as loader:
            list(loader)
        (self.place / "helper.py").write_text("def value(index):\n    return index\n")
        with echoline.Loader(config, "train") as loader:
            self.assertEqual([int(x) for batch in loader for x in batch["x"]], [0, 1, 2, 3])
        daemon, = self.daemons()
        os.kill(daemon, signal.SIGTERM)

    def test_a_mistake_is_named_as_in_a_file_with_the_path_of_the_log(self):
        with self.assertRaisesRegex(echoline.Error, r"(?s)its log is (\S+/daemon.log):.*echolined: step 2 \(shufle\): key "
                                                    "'shufle': unknown.*did you mean 'shuffle'") as raised:
            echoline.Loader([self.steps()[0], {"shufle": {"window": 4}}])
        self.assertTrue(pathlib.Path(str(raised.exception).split("its log is ")[1].split(":")[0]).exists())
        for steps, said in (([*self.steps()[:3], {"batch": {"sise": 2}}], r"step 4 \(batch\): key 'sise': unknown"),
                            ([*self.steps(), {"batch": {"size": 2}}], r"step 5 \(batch\): key 'batch': is given twice"),
                            ([*self.steps()[:1], "shuffle"], r"step 2 \(shuffle\): 'shuffle' alone"),
                            (self.steps()[:3], "pipeline: key 'pipeline': no 'batch' step"),
                            ({"lanes": 5, "pipeline": self.steps()}, "lanes: key 'lanes': 5 does not divide"),
                            ({"daemon": {"memory": "1KiB"}, "streams": {}}, "daemon.memory: key 'memory': 1KiB is out of range"),
                            ({"daemon": {"workers": -5}, "streams": {}}, "daemon.workers: key 'workers'"),
                            ({"streams": {"a": {"pipeline": self.steps()}, "b": {"pipeline": self.steps(last="no")}}},
                             r"streams.b: step 4 \(batch\): key 'last'")):
            with self.subTest(said), self.assertRaisesRegex(echoline.Error, f"echolined: {said}") as raised:
                echoline.Loader(steps)
            self.assertNotIn("echoline.yaml", str(raised.exception))
        with self.assertRaisesRegex(echoline.Error, r"echolined: step 1 \(read\): stream 'train': /nowhere.tar: No such"):
            with echoline.serve([{"read": {"url": "/nowhere.tar"}}, *self.steps()[1:]]):
                self.fail("started")
        file = self.place / "mistake.yaml"
        file.write_text("streams: {train: {pipeline: [{shufle: {}}]}}\n", encoding="utf-8")
        with self.assertRaisesRegex(echoline.Error, f"echolined: {file}:1:31: key 'shufle': unknown"):
            echoline.Loader(file)
        # The daemon itself may answer with the reason before it ends.
        with self.assertRaisesRegex(echoline.Error, "(?s)(private daemon ended.*)?/nowhere.tar: No such file"):
            echoline.Loader([{"read": {"url": "/nowhere.tar"}}, *self.steps()[1:]])
        script = self.place / "script.py"
        script.write_text("import echoline\nclass Numbers: pass\necholine.Loader([])\n", encoding="utf-8")
        with self.assertRaisesRegex(echoline.Error, f"a worker loads {script} .*below `if __name__"):
            echoline.Loader([echoline.steps.read(python={"file": script, "function": "Numbers", "out": {"x": {"as": "int64"}},
                                                        "environment": ["ECHOLINE_LIBRARY"]}),
                             echoline.steps.batch(2)])
        with echoline.Loader(self.configuration(), "train"), self.assertRaisesRegex(echoline.NotFound, "no stream 'val'"):
            echoline.Loader(self.configuration(), "val")
        for wrong in ({"streams": {1, 2}}, [{"batch": {"size": float("nan")}}], "missing.yaml"):
            with self.assertRaises(echoline.InvalidArgument):
                echoline.Loader(wrong)
        with self.assertRaisesRegex(echoline.InvalidArgument, "give one of both"):
            echoline.Loader(self.steps(), runtime_dir="/run/echoline")

    def test_a_folder_without_room_is_named(self):
        # A limit on the size of files, because a full disk needs a disk of its own.
        program = ("import resource, sys, echoline; resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))\n"
                   "try: echoline.Loader([{'read': {}}])\nexcept echoline.Error as error: print(error)")
        done = subprocess.run([sys.executable, "-c", program], cwd=self.place, text=True, capture_output=True, check=True)
        self.assertRegex(done.stdout, f"^can't write to {self.place}/private, the folder of private daemons: .*File too large.*"
                                      "; set ECHOLINE_PRIVATE_DIR to another folder, or make room$")

    @unittest.skipUnless(os.geteuid() == 0, "only root can act as other users")
    def test_the_folder_must_be_this_users_and_a_read_only_home_does_not_matter(self):
        private = self.place / "private"
        private.mkdir()
        os.chown(private, 1, 1)
        with self.assertRaisesRegex(echoline.Error, "only this user can write to; remove it, or set ECHOLINE_PRIVATE_DIR"):
            echoline.Loader(self.steps())
        os.chown(private, 0, 0)
        home = os.environ.get("HOME")
        self.addCleanup(os.environ.__setitem__, "HOME", home)
        os.environ["HOME"] = "/proc/self"
        with echoline.Loader(self.configuration(), "train"):
            self.assertTrue((private / "state").is_dir())

    # ---- waiting, copies, serve ----

    def test_wait_waits_for_a_daemon_that_is_not_there_yet(self):
        run = self.place / "run"
        reader = self.process("train", runtime_dir=str(run), wait="60s")
        self.assertIn("echoline: train is not ready yet: ", reader.stderr.readline())
        os.environ["ECHOLINE_RUNTIME_DIR"] = str(run)
        self.addCleanup(os.environ.pop, "ECHOLINE_RUNTIME_DIR")
        config = self.place / "served.yaml"
        config.write_text(json.dumps({"daemon": {"metrics": "off", "state_dir": str(self.place / "state")},
                                      **{"streams": self.configuration()["streams"]}}, default=str), encoding="utf-8")
        with subprocess.Popen([binary("ECHOLINED"), "--config", config], stderr=subprocess.DEVNULL) as daemon:
            try:
                out, said = reader.communicate(timeout=PATIENCE)
            finally:
                daemon.terminate()
        self.assertEqual(reader.returncode, 0, said)
        self.assertEqual(len(out.splitlines()), 1 + RECORDS // 12)
        with self.assertRaises(echoline.NotFound):
            echoline.Loader("train", wait="200ms")

    def test_serve_takes_a_configuration_in_python_and_writable_batches_are_copies(self):
        with echoline.serve(self.steps(), {"daemon.metrics": "off", "daemon.state_dir": self.place / "state"}):
            kept = list(echoline.Loader("train", writable=True))
            self.assertEqual(len(kept), RECORDS // 12)  # more than the ring has slots would be LeaseHeld
            kept[0]["image"][:] = 255
            self.assertEqual(sorted(int(label) for batch in kept for label in batch["label"]), list(range(RECORDS)))
            loader = echoline.Loader("train", job="second")
            self.assertFalse(loader.next()["image"].flags.writeable)
            self.assertIn("image uint8 [2, 3], label int64 []", repr(loader))
            loader.close()


if __name__ == "__main__":
    main()
