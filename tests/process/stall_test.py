#!/usr/bin/env python3
"""Long waits of trainers are reported once: in the log, by `echoline show --stall` and by `echoline top`. A stopped trainer
and a slow store, as real processes."""
import json
import os
import pathlib
import signal
import subprocess
import sys

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import binary, require_library, wait_until
from support.terminal import Terminal

SLOTS = 4

require_library()


class Stalls(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = photos.made_shards(cls.class_folder(), shards=1, records=80)[0]

    def daemon(self, read="", publish=""):
        steps = [f"read: {{url: '{self.url}', format: webdataset{read}}}", "decode: {image: {key: jpg, as: rgb}}",
                 "random_resized_crop: {field: image, size: [32, 32]}", "batch: {size: 8}",
                 f"publish: {{slots: {SLOTS}{publish}}}"]
        return self.started(Daemon(stream_yaml(steps), more="stall_report: 1s"))

    def stall(self, daemon):
        return json.loads(daemon.command("show", "train", "--stall", "--json").stdout)

    def first_report(self, daemon):
        """The lines of the log about the first long wait."""
        def lines():
            return [line.partition("stream train: ")[2] for line in daemon.log().splitlines() if "stream train: " in line]
        wait_until(lambda: any("publish: " in line for line in lines()), lambda: daemon.log())
        begin = next(place for place, line in enumerate(lines()) if line.startswith("a trainer has waited"))
        return lines()[begin:]

    def test_a_trainer_that_takes_no_batches_is_named_with_the_slots_that_it_holds(self):
        daemon = self.daemon(publish=", jobs: [one, stopped]")
        one, stopped = [self.trainer(daemon, "--job", job) for job in ("one", "stopped")]
        for trainer in (one, stopped):
            trainer.await_batches(2)
        os.kill(stopped.process.pid, signal.SIGSTOP)
        report = "\n".join(self.first_report(daemon))
        self.assertRegex(report, "^a trainer has waited 1 s for its next batch; the limit is: jobs\n")
        self.assertRegex(report, rf"waits: job one rank 0 \(process {one.process.pid}\), for 1\.\d s; the limit is: jobs")
        holds = rf"holds: job stopped rank 0 \(process {stopped.process.pid}\) has {SLOTS} slots and released none for \d\.\d s"
        wait_until(lambda: "holds: " in daemon.log(), lambda: daemon.log())
        self.assertRegex(daemon.log(), holds)
        found = self.stall(daemon)
        self.assertEqual((found["holders"][0]["job"], found["holders"][0]["slots"]), ("stopped", SLOTS))
        self.assertGreater(found["waits"][0]["seconds"], 1)
        terminal = Terminal([binary("ECHOLINE_CLI"), "top", "--runtime-dir", str(daemon.runtime_dir)])
        self.addCleanup(terminal.close)
        terminal.shows("? help").type("w")
        terminal.shows("job stopped rank 0")
        terminal.type("q")
        self.assertEqual(terminal.wait(), 0)
        os.kill(stopped.process.pid, signal.SIGCONT)
        one.await_more_batches(10)
        self.assertEqual(daemon.log().count("a trainer has waited"), 1)
        self.assertIn("batches again after", daemon.log())

    def test_reads_that_the_store_does_not_answer_have_their_address_and_age(self):
        daemon = self.daemon(read=", throttle: {latency: 2500ms}")
        trainer = self.trainer(daemon)
        report = "\n".join(self.first_report(daemon))
        self.assertRegex(report, "the limit is: storage\n")
        self.assertRegex(report, r"fetch: \d+ records awaited, \d+ reads? in flight\n")
        self.assertRegex(report, rf"read: \S*{os.path.basename(str(self.url))} from byte \d+, \d+ bytes, \d+ records?, [1-9]\.\d s old\n")
        trainer.await_batches(1)

    def test_a_trainer_is_told_of_a_function_that_does_not_return(self):
        code = pathlib.Path(self.folder(), "numbers.py")
        code.write_text("import time\nclass Numbers:\n    def __len__(self): return 400\n    def __getitem__(self, index):\n"
                        "        time.sleep(0 if index < 80 or index > 90 else 60)\n        return {'x': index}\n")
        data_set = f"{{file: {code}, function: Numbers, out: {{x: {{as: int64}}}}, workers: 1, timeout: 1s, interpreter: {sys.executable}}}"
        daemon = self.started(Daemon(stream_yaml([f"read: {{python: {data_set}}}", "batch: {size: 8}"], more="    bad_records: {limit: 50%}\n"),
                                     more="stall_report: 2s"))
        loop = f"import echoline\nfor batch in echoline.Loader('train', runtime_dir='{daemon.runtime_dir}'): pass"
        with subprocess.Popen([sys.executable, "-c", loop], stderr=subprocess.PIPE, text=True) as trainer:
            self.addCleanup(trainer.kill)
            line = trainer.stderr.readline()
            trainer.kill()
        self.assertRegex(line, r"stream train: no batch for 2 s; the limit is: workers; Numbers of numbers.py: \d+ calls? so far took "
                               r"longer than its timeout of 1 s\n")


if __name__ == "__main__":
    main()
