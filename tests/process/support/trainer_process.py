"""Trainers as processes, for tests that kill them and their daemon."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from support.programs import PATIENCE, end_with_parent

LINE_BYTES_MOST = 64 << 10


class Trainer:
    """A running trainer_program.py. It writes its lines to a file, so that it never waits for this process."""

    def __init__(self, daemon, *arguments):
        self.lines_file = tempfile.NamedTemporaryFile(dir=daemon.folder, prefix="trainer-", delete=False)
        script = pathlib.Path(__file__).with_name("trainer_program.py")
        self.process = subprocess.Popen([sys.executable, "-B", str(script), str(daemon.runtime_dir),
                                         *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=self.lines_file,
                                        preexec_fn=end_with_parent)

    def lines(self):
        """What it wrote so far, without a line that SIGKILL cut."""
        text = pathlib.Path(self.lines_file.name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def batches(self):
        return [line for line in self.lines() if "epoch" in line]

    def last_batch(self):
        """The last of batches(), or None; reads only the end of the file."""
        with open(self.lines_file.name, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LINE_BYTES_MOST))
            lines = file.read().splitlines(keepends=True)
        whole = (json.loads(line) for line in reversed(lines) if line.startswith(b"{") and line.endswith(b"\n"))
        return next((line for line in whole if "epoch" in line), None)

    def batch_count(self):
        """The number of batches(), without reading what is in them."""
        text = pathlib.Path(self.lines_file.name).read_bytes()
        return text.count(b'"step": ', 0, text.rfind(b"\n") + 1)

    def await_attached(self):
        return self._await(lambda: any("attached" in line for line in self.lines()), "attach", PATIENCE)

    def await_batches(self, count, seconds=PATIENCE):
        return self._await(lambda: self.batch_count() >= count, f"{count} batches", seconds)

    def await_more_batches(self, count, seconds=PATIENCE):
        return self.await_batches(self.batch_count() + count, seconds)

    def _await(self, condition, what, seconds):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"no {what} in {seconds} s; exit {self.process.poll()}; last lines: "
                                     f"{self.lines()[-2:]}")
            time.sleep(0.01)
        return self

    def await_end(self):
        """The exit code, once it ended without a signal of the test."""
        return self.process.wait(PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.lines_file.close()

    def discard(self):
        """Removes the file of its lines, once they are read."""
        pathlib.Path(self.lines_file.name).unlink()

    def finish(self):
        """Ends it in order; its lines."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"a trainer hangs after {self.lines()[-1:]}") from None
        self.lines_file.close()
        return self.lines()
