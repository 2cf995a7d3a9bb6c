#!/usr/bin/env python3
"""Streams that are created, kept, drained and deleted by command while trainers read."""
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import line_photos
from daemon_process import PATIENCE, Daemon, binary, skip, stream_yaml
from trainer_process import Trainer

BATCH, SLOTS, RECORDS = 8, 4, 80
# Between two batches of a trainer while other streams come and go. The machine may be very busy.
GAP_MAX = 5.0

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")


class Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        data = tempfile.TemporaryDirectory()
        cls.addClassCleanup(data.cleanup)
        cls.url = line_photos.made_shards(data.name, shards=1, records=RECORDS)[0]

    def stream(self, name, size=BATCH):
        return stream_yaml([f"read: {{url: '{self.url}', format: webdataset, read_ahead: 64KiB}}",
                            "decode: {image: {key: jpg, as: rgb}}", "resize: {field: image, size: [32, 32]}",
                            f"batch: {{size: {size}}}", f"publish: {{slots: {SLOTS}}}"], name)

    def command(self, daemon, *arguments):
        return subprocess.run([binary("ECHOLINE_CLI"), *map(str, arguments), "--runtime-dir", str(daemon.runtime_dir)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

    def create(self, daemon, name, *arguments, size=BATCH):
        file = daemon.folder / f"{name}.yaml"
        file.write_text("streams:\n" + self.stream(name, size), encoding="utf-8")
        done = self.command(daemon, "create", file, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)

    def names(self, daemon):
        done = self.command(daemon, "list")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {line.split()[0]: line.split()[1:3] for line in done.stdout.splitlines()[1:]}

    def check_steps(self, trainer, epoch_steps=RECORDS // BATCH):
        """Every step of every epoch it came to, in order."""
        steps = [(line["epoch"], line["step"]) for line in trainer.batches()]
        self.assertEqual(steps, [divmod(place, epoch_steps) for place in range(len(steps))])

    def test_what_is_persisted_outlives_a_kill_and_its_trainers_go_on(self):
        with Daemon(self.stream("train")) as daemon:
            self.create(daemon, "kept", "--persist")
            self.create(daemon, "passing")
            trainer = Trainer(daemon, "--stream", "kept", "--pace", 0.01).await_batches(5)
            daemon.stop(signal.SIGKILL)
            count = len(trainer.batches())
            daemon.start()
            self.assertEqual(self.names(daemon), {"kept": ["ready", "yes"], "train": ["ready", "no"]})
            trainer.await_batches(count + 3 * SLOTS)
            trainer.finish()
            self.check_steps(trainer)
            # Deleted is deleted; and one that cannot be created any more does not stop the start.
            self.assertEqual(self.command(daemon, "delete", "kept").returncode, 0)
            self.create(daemon, "lost", "--persist")
            lost = daemon.state_dir / "streams" / "lost.json"
            lost.write_text(lost.read_text(encoding="utf-8").replace(str(self.url), "/no/such.tar"), encoding="utf-8")
            daemon.stop(signal.SIGKILL)
            daemon.start()
            self.assertEqual(self.names(daemon), {"train": ["ready", "no"], "lost": ["failed", "yes"]})
            self.assertRegex(self.command(daemon, "list").stdout, r"(?m)^lost .*/no/such.tar: No such file or directory")
            self.assertIn("kept stream 'lost'", daemon.log())
            self.assertTrue(lost.exists())
            self.assertEqual(self.command(daemon, "delete", "lost").returncode, 0)
            self.assertFalse(lost.exists())
            self.assertEqual(list(self.names(daemon)), ["train"])

    def test_the_configuration_wins_over_what_was_persisted(self):
        with Daemon(self.stream("train")) as daemon:
            self.create(daemon, "other", "--persist", size=4)
            self.assertEqual(daemon.stop(), 0)
            with daemon.config.open("a", encoding="utf-8") as config:
                config.write(self.stream("other"))
            daemon.start()
            self.assertEqual(self.names(daemon)["other"], ["ready", "no"])
            self.assertIn("batch_size\":8", self.command(daemon, "show", "other", "--json").stdout)

    def test_draining_lets_a_trainer_finish_and_tells_it(self):
        with Daemon(self.stream("train") + self.stream("other")) as daemon:
            trainer, other = (Trainer(daemon, "--stream", name, "--pace", 0.05).await_batches(3)
                              for name in ("train", "other"))
            done = self.command(daemon, "drain", "train", "--patience", "60s")
            self.assertEqual(done.stdout, "drained train\n", done.stderr)
            self.assertEqual(trainer.process.wait(PATIENCE), 3)
            end = trainer.lines()[-1]
            self.assertEqual(end["error"], "Detached")
            self.assertIn("stream 'train' was drained and takes no more trainers", end["text"])
            self.check_steps(trainer)
            late = Trainer(daemon)
            self.assertEqual(late.process.wait(PATIENCE), 3)
            self.assertIn("was drained", late.lines()[-1]["text"])
            self.assertEqual(self.names(daemon), {"other": ["ready", "no"], "train": ["drained", "no"]})
            self.assertEqual(self.command(daemon, "drain", "train").returncode, 0)
            # The others have heard nothing of it; the name is free again once it is deleted.
            other.await_batches(len(other.batches()) + 2 * SLOTS).finish()
            self.check_steps(other)
            self.assertEqual(self.command(daemon, "delete", "train").returncode, 0)
            self.create(daemon, "train")
            again = Trainer(daemon).await_batches(2)
            again.finish()

    def test_a_trainer_that_stands_still_does_not_hold_up_the_command(self):
        with Daemon(self.stream("train")) as daemon:
            trainer = Trainer(daemon, "--pace", 0.01).await_batches(3)
            os.kill(trainer.process.pid, signal.SIGSTOP)
            done = self.command(daemon, "drain", "train", "--patience", "300ms")
            os.kill(trainer.process.pid, signal.SIGCONT)
            self.assertEqual((done.returncode, done.stdout),
                             (3, "drained train; after 300ms trainers had not taken all batches yet\n"))
            self.assertEqual(trainer.process.wait(PATIENCE), 3)
            self.check_steps(trainer)
            # Once more waits again, and now for nobody.
            self.assertEqual(self.command(daemon, "drain", "train").returncode, 0)
            self.assertEqual(self.command(daemon, "drain", "nobody").returncode, 1)
            self.assertEqual(self.command(daemon, "drain", "x" * 100_000).stderr,
                             f"echoline: no stream '{'x' * 200}...'; there are: train\n")

    def test_streams_come_and_go_without_a_pause_in_others(self):
        with Daemon(self.stream("train")) as daemon:
            trainer = Trainer(daemon, "--pace", 0.002).await_batches(3)
            first, ended = len(trainer.batches()), threading.Event()
            rounds = []

            def commands():
                deadline = time.monotonic() + 3
                while not rounds or time.monotonic() < deadline:
                    self.create(daemon, "passing", "--persist")
                    self.command(daemon, "drain", "passing")
                    self.assertEqual(self.command(daemon, "delete", "passing").returncode, 0)
                    rounds.append(time.monotonic())
                ended.set()

            commander = threading.Thread(target=commands)
            commander.start()
            commander.join(PATIENCE)
            self.assertTrue(ended.is_set())
            trainer.await_batches(len(trainer.batches()) + 1)
            trainer.finish()
            times = [line["time"] for line in trainer.batches()][first - 1:]
            gap = max(after - before for before, after in zip(times, times[1:]))
            print(f"{len(rounds)} streams came and went, {len(times)} batches, longest gap {gap * 1000:.0f} ms")
            self.assertLess(gap, GAP_MAX)
            self.check_steps(trainer)


if __name__ == "__main__":
    unittest.main(verbosity=2)
