#!/usr/bin/env python3
"""`factor: auto` over a web server that becomes slower and faster while a trainer reads: the factor follows, states resume
exactly, and a new daemon begins with the factor that was set last."""
import json
import time

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import DECODE, Records
from support.slow_line import Line, Server

require_library()

import echoline  # noqa: E402

BATCH, RECORDS, RECORD_BYTES, FACTOR_MAX = 8, 400, 30_000, 5
STEP_SECONDS = 0.05  # of the trainer
SETTLED_SECONDS = 12
TOLERANCE = 0.2      # the machine has other work to do


class Trainer:
    """Reads epoch after epoch at a steady speed. `seen`: [(state before, rows)] of all batches."""

    def __init__(self, loader):
        self._loader, self._loop, self.seen = loader, iter(loader), []

    def read(self, seconds):
        until = time.monotonic() + seconds
        while (begin := time.monotonic()) < until:
            state = self._loader.state_dict()
            batch = next(self._loop, None)
            if batch is None:
                self._loop = iter(self._loader)
                continue
            self.seen.append((state, rows_of(batch)))
            del batch
            time.sleep(max(0.0, begin + STEP_SECONDS - time.monotonic()))


def rows_of(batch):
    return list(zip(batch.sample_ids.tolist(), batch.uses.tolist()))


class AutoEcho(ProcessCase):
    def setUp(self):
        super().setUp()
        self.line = Line()
        records = Records(self.folder(), count=RECORDS, shards=2, ballast=(RECORD_BYTES - 3000, RECORD_BYTES - 2990))
        server = self.resource(Server(records.folder, self.line))
        self.streams = stream_yaml(
            [f"read: {{url: ['{server.url}/records-000.tar', '{server.url}/records-001.tar'], format: webdataset, read_ahead: 1MiB}}",
             "shuffle: {window: 50}", DECODE, f"echo: {{factor: auto, max: {FACTOR_MAX}, window: 150}}",
             f"batch: {{size: {BATCH}, last: partial}}", "publish: {slots: 4}"])

    def set_ratio(self, ratio):
        """R: the time of a fresh batch on the line over the trainer's time for a step."""
        self.line.bytes_per_second = BATCH * RECORD_BYTES / STEP_SECONDS / ratio

    def factor(self, daemon):
        return json.loads(daemon.command("show", "train", "--json").stdout)["echo_factor"]

    def check_resumes(self, daemon, seen):
        """From a state on, another run reads the same rows, up to the first change that one of both makes later."""
        compared = 0
        for place in range(10, len(seen) - 60, 97):
            state = seen[place][0]
            with echoline.Loader("train", f"from {place}", state=state, runtime_dir=daemon.runtime_dir) as loader:
                for (expected_state, rows), batch in zip(seen[place:place + 40], loader):
                    if expected_state["changes"] != state["changes"] or loader.state_dict()["changes"] != state["changes"]:
                        break
                    self.assertEqual(rows_of(batch), rows, f"from state {place}")
                    compared += 1
                    del batch
        self.assertGreater(compared, 50)

    def test_the_factor_follows_the_line_and_states_resume(self):
        with Daemon(self.streams) as daemon:
            with echoline.Loader("train", runtime_dir=daemon.runtime_dir) as loader:
                with self.assertRaises(TypeError):
                    len(loader)
                trainer = Trainer(loader)
                for ratio in (3, 0.5, 8):
                    self.set_ratio(ratio)
                    trainer.read(SETTLED_SECONDS)
                    wanted = min(max(ratio, 1), FACTOR_MAX)
                    self.assertLess(abs(self.factor(daemon) - wanted), TOLERANCE * wanted, f"R {ratio}; {daemon.log()}")
            kept = self.factor(daemon)
            refused = daemon.command("set-echo", "train", "2")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("echo.factor: auto", refused.stderr)
            with self.assertRaisesRegex(echoline.Error, "ranks on other hosts"):
                echoline.Loader("train", "two hosts", world_size=2, local_world_size=1, runtime_dir=daemon.runtime_dir)
            daemon.stop()
            daemon.start()
            self.assertEqual(self.factor(daemon), kept, "the factor survives a restart")
            self.set_ratio(0.01)
            self.check_resumes(daemon, trainer.seen)
        self.check_a_new_daemon_begins_as_the_state(trainer.seen)

    def check_a_new_daemon_begins_as_the_state(self, seen):
        state = next(state for state, _ in seen if state["changes"] and state["changes"][-1][-1] not in (1000, 1000 * FACTOR_MAX))
        with Daemon(self.streams) as daemon:
            self.assertEqual(self.factor(daemon), FACTOR_MAX)
            with echoline.Loader("train", state=state, runtime_dir=daemon.runtime_dir):
                self.assertEqual(1000 * self.factor(daemon), state["changes"][-1][-1])


if __name__ == "__main__":
    main()
