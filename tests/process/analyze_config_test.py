#!/usr/bin/env python3
"""`echoline analyze --config` measures a stream that no daemon has, and leaves nothing behind, however it ends."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from support import photos, slow_line
from support.daemon_process import stream_yaml
from support.process_case import ProcessCase, main
from support.programs import binary, end_with_parent, run_echoline, wait_until

RECORDS, BATCH = 60, 8
STORE = 200  # records per second
LINE = 20  # MB/s of the web server


class AnalyzeConfig(ProcessCase):
    def setUp(self):
        super().setUp()
        self.place, self.temporary, self.state = self.folder(), self.folder(), self.folder()
        self.url = photos.made_shards(self.place, shards=1, records=RECORDS)[0]
        rate = STORE * self.url.stat().st_size / RECORDS
        # Its address is relative to the working folder.
        steps = [f"read: {{url: {self.url.name}, format: webdataset, read_ahead: 100KB, throttle: {{rate: {rate:.0f}B/s}}}}",
                 "decode: {image: {key: jpg, as: rgb}}", "random_resized_crop: {field: image, size: 32}",
                 f"batch: {{size: {BATCH}}}"]
        # The other stream could not be opened.
        other = stream_yaml(["read: {url: none.tar}", *steps[1:]], name="other")
        self.config = self.place / "pipeline.yaml"
        self.config.write_text(f"daemon: {{state_dir: '{self.state}', workers: 1, metrics: '127.0.0.1:9'}}\nstreams:\n"
                               + stream_yaml(steps) + other, encoding="utf-8")
        # Its folder would be there again if a process of the daemon were left.
        self.addCleanup(self.await_nothing_left)

    def environment(self):
        return {"TMPDIR": str(self.temporary), "ECHOLINE_DAEMON": binary("ECHOLINED")}

    def processes(self):
        """Those that have the temporary folder in their command line."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                found += [entry.name] if os.fsencode(self.temporary) in (entry / "cmdline").read_bytes() else []
            except OSError:
                continue
        return found

    def left(self):
        return [*self.temporary.iterdir(), *self.processes()]

    def await_nothing_left(self):
        wait_until(lambda: not self.left(), lambda: f"still there: {self.left()}")

    def analyze(self, *more, stream="train"):
        return run_echoline("analyze", "--config", self.config.name, stream, "--for", "2s", *more, cwd=self.place,
                            environment=self.environment())

    def test_it_measures_and_predicts_without_a_daemon(self):
        picture = self.place / "rates.svg"
        done = self.analyze("--trainer-rate", 800, "--json", "--what-if", "store.rate=x3",
                            "--what-if", "store.latency=80ms", "--svg", picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left(), [])
        found = json.loads(done.stdout)
        measured = found["measured"]
        self.assertEqual(found["now"]["limit"], "storage")
        self.assertLess(abs(measured["store_records"] / STORE - 1), 0.15, measured)
        self.assertEqual(measured["trainer_rows"], 800, "as given")
        self.assertLess(abs(measured["stall_share"] - 0.75), 0.08, measured)
        self.assertEqual(measured["workers"], 1)
        self.assertLess(abs(found["what_if"][0]["rows_per_second"] / measured["store_records"] - 3), 0.01)
        self.assertIn("the latency of the store was not measured", found["what_if"][1]["refused"])
        self.assertGreater(measured["batches"], 10)
        self.assertIn("decode image", {step["step"] for step in measured["steps"]})
        self.assertIn("<svg", picture.read_text(encoding="utf-8"))
        # The index is kept for the daemon that comes.
        self.assertEqual(len(list((self.state / "indexes").glob("*.idx"))), 1)
        self.assertEqual([path.name for path in self.state.iterdir()], ["indexes"])

    def add_stream_of_a_web_server(self):
        """The stream `web`: four requests at a time over a line of LINE MB/s."""
        line = slow_line.Line()
        line.bytes_per_second = LINE * 1e6
        server = self.resource(slow_line.Server(self.place, line))
        (self.place / "tokens.bin").write_bytes(os.urandom(16_000_000))
        steps = [f"read: {{url: '{server.url}/tokens.bin', format: tokens, tokens: {{length: 4000}}, concurrency: 4}}",
                 "decode: {tokens: {key: tokens, as: uint16, shape: [4000]}}", f"batch: {{size: {BATCH}}}"]
        with self.config.open("a", encoding="utf-8") as config:
            config.write(stream_yaml(steps, name="web"))

    def test_without_a_rate_of_the_trainers_no_stall_is_predicted_and_the_store_has_a_rate_for_its_number_of_requests(self):
        self.add_stream_of_a_web_server()
        done = self.analyze("--set", "daemon.workers=2", stream="web")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("limit    storage; batches are taken as fast as they come\n", done.stdout)
        self.assertIn("G        unknown: say with --trainer-rate", done.stdout)
        self.assertIn("from 2 workers", done.stdout)
        self.assertRegex(done.stdout, r"nothing changes +[\d.]+ +[\d.]+ +- storage")
        self.assertNotIn("gain ", done.stdout)
        self.assertRegex(done.stdout, r"\nrates    of http://127.0.0.1:\d+ by requests in flight")
        point = re.search(r"\n +[34] +([\d.]+) +\d+ +\d+ +\d+ s ago █{20}\n"
                          r" +this is the only number that was measured; read.concurrency is 4\n", done.stdout)
        self.assertIsNotNone(point, done.stdout)
        self.assertLess(abs(float(point.group(1)) / LINE - 1), 0.3, done.stdout)

    def test_errors_leave_nothing(self):
        for stream, said in (("none", "pipeline.yaml: no stream 'none' in it"),
                             ("other", "stream 'other': .*none.tar: No such file")):
            done = self.analyze(stream=stream)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertRegex(done.stderr, said)
            self.assertEqual(self.left(), [])
        for more in (["--trainer-rate", "5"], ["--set", "daemon.workers=1"]):
            self.assertEqual(run_echoline("analyze", "train", *more).returncode, 2)

    def test_signals_leave_nothing(self):
        for end in (signal.SIGINT, signal.SIGKILL):
            with subprocess.Popen([binary("ECHOLINE_CLI"), "analyze", "--config", self.config.name, "train", "--for", "1h"],
                                  cwd=self.place, env={**os.environ, **self.environment()}, start_new_session=True,
                                  stdout=subprocess.DEVNULL, preexec_fn=end_with_parent) as command:
                wait_until(lambda: list(self.temporary.glob("*/door.sock")), "no daemon")
                # A command that is killed later, too, while batches flow.
                time.sleep(0.2)
                # As a terminal or a batch system sends it.
                os.killpg(command.pid, end)
                self.assertEqual(command.wait(), -end)
            self.await_nothing_left()


if __name__ == "__main__":
    main()
