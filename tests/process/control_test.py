#!/usr/bin/env python3
"""Commands create, persist, drain and delete streams while trainers read."""
import os
import signal
import threading
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, require_library

BATCH, SLOTS, RECORDS = 8, 4, 80
# Between two batches of a trainer while other streams come and go. The machine may be very busy.
GAP_MAX = 5.0

require_library()


class Control(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = photos.made_shards(cls.class_folder(), shards=1, records=RECORDS)[0]

    def stream(self, name, size=BATCH):
        return stream_yaml(photos.pipeline(self.url, ", read_ahead: 64KiB", side=32, batch=size, publish=f"slots: {SLOTS}"),
                           name)

    def check_ok(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def create(self, daemon, name, *arguments, size=BATCH):
        file = daemon.folder / f"{name}.yaml"
        file.write_text("streams:\n" + self.stream(name, size), encoding="utf-8")
        self.check_ok(daemon.command("create", file, *arguments))

    def names(self, daemon):
        """{stream: [state, whether it is persistent]}"""
        lines = self.check_ok(daemon.command("list")).splitlines()[1:]
        return {line.split()[0]: line.split()[1:3] for line in lines}

    def check_all_steps(self, trainer):
        self.check_steps(trainer.batches(), RECORDS // BATCH)

    def test_a_persistent_stream_survives_a_kill_and_its_trainers_continue(self):
        with Daemon(self.stream("train")) as daemon:
            self.create(daemon, "kept", "--persist")
            self.create(daemon, "passing")
            trainer = self.trainer(daemon, "--stream", "kept", "--pace", 0.01).await_batches(5)
            daemon.stop(signal.SIGKILL)
            count = len(trainer.batches())
            daemon.start()
            self.assertEqual(self.names(daemon), {"kept": ["ready", "yes"], "train": ["ready", "no"]})
            trainer.await_batches(count + 3 * SLOTS)
            trainer.finish()
            self.check_all_steps(trainer)
            # A deleted stream does not come back. A stream that cannot be created any more does not stop the start.
            self.check_ok(daemon.command("delete", "kept"))
            self.create(daemon, "lost", "--persist")
            lost = daemon.state_dir / "streams" / "lost.json"
            lost.write_text(lost.read_text(encoding="utf-8").replace(str(self.url), "/no/such.tar"), encoding="utf-8")
            daemon.stop(signal.SIGKILL)
            daemon.start()
            self.assertEqual(self.names(daemon), {"train": ["ready", "no"], "lost": ["failed", "yes"]})
            self.assertRegex(daemon.command("list").stdout, r"(?m)^lost .*/no/such.tar: No such file or directory")
            self.assertIn("kept stream 'lost'", daemon.log())
            self.assertTrue(lost.exists())
            self.check_ok(daemon.command("delete", "lost"))
            self.assertFalse(lost.exists())
            self.assertEqual(list(self.names(daemon)), ["train"])

    def test_the_configuration_wins_over_a_persistent_stream(self):
        with Daemon(self.stream("train")) as daemon:
            self.create(daemon, "other", "--persist", size=4)
            self.assertEqual(daemon.stop(), 0)
            with daemon.config.open("a", encoding="utf-8") as config:
                config.write(self.stream("other"))
            daemon.start()
            self.assertEqual(self.names(daemon)["other"], ["ready", "no"])
            self.assertIn("batch_size\":8", daemon.command("show", "other", "--json").stdout)

    def test_drain_lets_a_trainer_finish_and_then_detaches_it(self):
        with Daemon(self.stream("train") + self.stream("other")) as daemon:
            trainer, other = (self.trainer(daemon, "--stream", name, "--pace", 0.05).await_batches(3)
                              for name in ("train", "other"))
            done = daemon.command("drain", "train", "--patience", "60s")
            self.assertEqual(done.stdout, "drained train\n", done.stderr)
            self.assertEqual(trainer.await_end(), 3)
            end = trainer.lines()[-1]
            self.assertEqual(end["error"], "Detached")
            self.assertIn("stream 'train' was drained and takes no more trainers", end["text"])
            self.check_all_steps(trainer)
            late = self.trainer(daemon)
            self.assertEqual(late.await_end(), 3)
            self.assertIn("was drained", late.lines()[-1]["text"])
            self.assertEqual(self.names(daemon), {"other": ["ready", "no"], "train": ["drained", "no"]})
            self.check_ok(daemon.command("drain", "train"))
            # The other stream continues; the name is free again after the stream is deleted.
            other.await_more_batches(2 * SLOTS).finish()
            self.check_all_steps(other)
            self.check_ok(daemon.command("delete", "train"))
            self.create(daemon, "train")
            self.trainer(daemon).await_batches(2).finish()

    def test_a_stopped_trainer_delays_a_drain_only_for_its_patience(self):
        with Daemon(self.stream("train")) as daemon:
            trainer = self.trainer(daemon, "--pace", 0.01).await_batches(3)
            os.kill(trainer.process.pid, signal.SIGSTOP)
            done = daemon.command("drain", "train", "--patience", "300ms")
            os.kill(trainer.process.pid, signal.SIGCONT)
            self.assertEqual((done.returncode, done.stdout),
                             (3, "drained train; after 300ms trainers had not taken all batches yet\n"))
            self.assertEqual(trainer.await_end(), 3)
            self.check_all_steps(trainer)
            # A second drain has nobody to wait for.
            self.check_ok(daemon.command("drain", "train"))
            self.assertEqual(daemon.command("drain", "nobody").returncode, 1)
            self.assertEqual(daemon.command("drain", "x" * 100_000).stderr,
                             f"echoline: no stream '{'x' * 200}...'; there are: train\n")

    def test_streams_come_and_go_without_a_pause_in_others(self):
        with Daemon(self.stream("train")) as daemon:
            trainer = self.trainer(daemon, "--pace", 0.002).await_batches(3)
            first, ended = len(trainer.batches()), threading.Event()
            rounds = []

            def commands():
                deadline = time.monotonic() + 3
                while not rounds or time.monotonic() < deadline:
                    self.create(daemon, "passing", "--persist")
                    daemon.command("drain", "passing")
                    self.check_ok(daemon.command("delete", "passing"))
                    rounds.append(time.monotonic())
                ended.set()

            commander = threading.Thread(target=commands)
            commander.start()
            commander.join(PATIENCE)
            self.assertTrue(ended.is_set())
            trainer.await_more_batches(1)
            trainer.finish()
            times = [line["time"] for line in trainer.batches()][first - 1:]
            gap = max(after - before for before, after in zip(times, times[1:]))
            print(f"{len(rounds)} streams came and went, {len(times)} batches, longest gap {gap * 1000:.0f} ms",
                  flush=True)
            self.assertLess(gap, GAP_MAX)
            self.check_all_steps(trainer)


if __name__ == "__main__":
    main()
