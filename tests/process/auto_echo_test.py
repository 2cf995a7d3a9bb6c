#!/usr/bin/env python3
"""`factor: auto` over a web server that becomes slower and faster while a trainer reads: the factor follows, states resume
exactly, and a new daemon begins with the factor that was set last."""
import contextlib
import http.server
import json
import pathlib
import sys
import threading
import time

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import DECODE, Records

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "servers"))
from starter import Handler  # noqa: E402

require_library()

import echoline  # noqa: E402

BATCH, RECORDS, RECORD_BYTES, FACTOR_MAX = 8, 400, 30_000, 5
STEP_SECONDS = 0.05  # of the trainer
SETTLED_SECONDS = 12
TOLERANCE = 0.2      # the machine has other work to do


class Line:
    """A link that all answers share. Any thread."""

    def __init__(self):
        self.bytes_per_second, self._free_at, self._lock = 1e9, 0.0, threading.Lock()

    def set_ratio(self, ratio):
        """R: the time of a fresh batch on the line over the trainer's time for a step."""
        self.bytes_per_second = BATCH * RECORD_BYTES / STEP_SECONDS / ratio

    def pass_through(self, count):
        with self._lock:
            self._free_at = max(self._free_at, time.monotonic()) + count / self.bytes_per_second
            wait = self._free_at - time.monotonic()
        time.sleep(max(0.0, wait))


class Server:
    """Serves a folder's files, whole or in ranges, over the line."""

    def __init__(self, folder, line):
        class Files(Handler):
            def do_HEAD(self):
                file = folder / self.path[1:]
                if not file.exists():
                    return self.answer(404, b"")
                return self.answer(200, b"", [("Content-Length", str(file.stat().st_size)), ("ETag", '"1"')])

            def do_GET(self):
                if not (folder / self.path[1:]).exists():
                    self.answer(404, b"")
                    return
                data = (folder / self.path[1:]).read_bytes()
                first, last = self.headers["Range"].removeprefix("bytes=").split("-")
                part = data[int(first):int(last) + 1]
                self.send_response(206)
                self.send_header("Content-Length", str(len(part)))
                self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
                self.send_header("ETag", '"1"')
                self.end_headers()
                with contextlib.suppress(OSError):  # the daemon needs no more of it
                    for begin in range(0, len(part), 8192):
                        line.pass_through(len(part[begin:begin + 8192]))
                        self.wfile.write(part[begin:begin + 8192])

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def stop(self):
        self._http.shutdown()
        self._http.server_close()


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
                    self.line.set_ratio(ratio)
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
            self.line.set_ratio(0.01)
            self.check_resumes(daemon, trainer.seen)


if __name__ == "__main__":
    main()
